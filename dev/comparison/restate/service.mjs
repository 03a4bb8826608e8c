import * as restate from '@restatedev/restate-sdk';

const { INCIDENT_URL: url, SERVICE_PORT: port } = process.env;

const parcel = restate.service({
  name: 'parcel',
  handlers: {
    async label(ctx, number) {
      // The key is the same for each try of the invocation, also after a pause.
      const key = ctx.rand.uuidv4();
      return ctx.run('label', async () => {
        const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ number, key }) });
        // Every other error is retried as the server's default says: after 0.5 s, 1 s, 2 s … at most a minute; 70 tries, then paused.
        if (answer.status === 409) throw new restate.PauseError('LabelRefused: the printer has no paper.');
        if (!answer.ok) throw new Error(`The warehouse answers ${answer.status}.`);
        return answer.text();
      });
    },
  },
});

restate.serve({ services: [parcel], port: Number(port) });
