import { secret } from 'redress';
import * as z from 'zod';

export const Text = z.string().min(1).max(1024);

/** A passport number. Only the airline and the visa office read it. */
export const Passport = secret(z.string().min(5).max(20));

export const Traveller = z.object({ name: Text, email: Text, passport: Passport });

export const Journey = z.object({ from: Text, to: Text, outward: z.iso.date(), back: z.iso.date(), visa: z.boolean() });

/** The body of an order for one traveler. */
export const Trip = z.object({ traveller: Traveller, journey: Journey });

/** The body of an order for a group: everyone travels, or no one does. */
export const GroupTrip = z.object({ organiser: Text, travellers: z.array(Traveller).min(1).max(20), journey: Journey });
