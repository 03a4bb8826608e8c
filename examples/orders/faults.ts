import { fault } from 'redress';

/** A refusal, for a reason that the customer may read. */
export const Refused = fault('Refused');
export const OutOfStock = fault('OutOfStock', Refused);
export const CardDeclined = fault('CardDeclined', Refused);

/** The parcel service cannot deliver to this address. A person may find the right one. */
export const AddressInvalid = fault('AddressInvalid');

/** The parcel has left the warehouse: too late to recall it. */
export const AlreadyDispatched = fault('AlreadyDispatched');
