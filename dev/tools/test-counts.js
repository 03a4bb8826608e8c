/** A reporter of `node --test` that writes the counts of the whole run. The summaries of single files name their file. */
export default async function* counts(events) {
  for await (const { type, data } of events) if (type === 'test:summary' && data.file === undefined) yield JSON.stringify(data.counts);
}
