import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  defineSignal,
  proxyActivities,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';

// The default retry policy: without an end, after 1 s, 2 s, 4 s … at most 100 s. LabelRefused is thrown as non-retryable.
const { label } = proxyActivities({ startToCloseTimeout: '10s' });

const again = defineSignal('again');

/** Waits for a person after a refusal, as a workflow with a human in the loop does: it shows its fault, and a signal lets it try again. */
export async function parcel(number) {
  let isAsked = false;
  setHandler(again, () => void (isAsked = true));
  for (;;)
    try {
      return await label(number);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      upsertSearchAttributes({ Fault: [error.cause.type] });
      await condition(() => isAsked);
      isAsked = false;
      upsertSearchAttributes({ Fault: [] });
    }
}

/** Fails at a refusal, as a workflow without such a loop does. An operator can reset it. */
export async function failingParcel(number) {
  return label(number);
}

const isRefusal = (error) =>
  error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === 'LabelRefused';
