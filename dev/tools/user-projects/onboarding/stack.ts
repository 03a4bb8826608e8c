import { App, Stack } from 'aws-cdk-lib';
import { OrderProcessing } from 'redress/cdk';
import app from './app.ts';

const stack = new Stack(new App(), 'Onboarding', { env: { region: 'eu-central-1' } });
new OrderProcessing(stack, 'Orders', { app, entry: 'app.ts', agentEnvironment: { OFFICE_URL: 'https://office.example.com' } });
