import { secret } from 'redress';
import * as z from 'zod';

export const Text = z.string().min(1).max(1024);

/** Nobody but the airline and the visa office gets to see the number. */
export const Passport = secret(z.string().min(5).max(20));

export const Traveller = z.object({ name: Text, email: Text, passport: Passport });

export const Journey = z.object({ from: Text, to: Text, outward: z.iso.date(), back: z.iso.date(), visa: z.boolean() });

/** The body of an order for one traveller. */
export const Trip = z.object({ traveller: Traveller, journey: Journey });

/** The body of an order for several who travel together: all of them, or none. */
export const GroupTrip = z.object({ organiser: Text, travellers: z.array(Traveller).min(1).max(20), journey: Journey });
