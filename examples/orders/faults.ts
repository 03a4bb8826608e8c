import { fault } from 'redress';

/** Somebody said no, for a reason that the customer can be told. */
export const Refused = fault('Refused');
export const OutOfStock = fault('OutOfStock', Refused);
export const CardDeclined = fault('CardDeclined', Refused);

/** The parcel service cannot deliver there. A person may find the right address. */
export const AddressInvalid = fault('AddressInvalid');

/** The parcel has left the house: too late to recall it. */
export const AlreadyDispatched = fault('AlreadyDispatched');
