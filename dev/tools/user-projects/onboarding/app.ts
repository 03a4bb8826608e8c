import { defineApp } from 'redress';
import { facilities, it } from './agents.ts';
import { onboard } from './workflow.ts';

export default defineApp({
  workflows: [onboard],
  agents: [it, facilities],
  local: {
    variables: ['OFFICE_URL'],
    async start() {
      const { startOffice } = await import('./office.ts');
      const { url, close } = await startOffice();
      return { environment: { OFFICE_URL: url }, about: `office at ${url}`, close };
    },
  },
});
