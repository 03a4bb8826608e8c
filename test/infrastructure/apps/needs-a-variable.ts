import app from '../app.ts';

if (!process.env['STOCK_URL']) throw new Error('STOCK_URL is missing.');

export default app;
