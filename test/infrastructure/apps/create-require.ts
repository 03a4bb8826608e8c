import { createRequire } from 'node:module';
import app from '../app.ts';

// This app creates its own `require`, as fflate and many other packages do.
const require = createRequire(import.meta.url);
if (require('node:os') === undefined) throw new Error('Node has no module os.');

export default app;
