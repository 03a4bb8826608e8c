import { Dialog } from '../parts/dialog.tsx';
import { activeKeys, singleKeys } from '../parts/keys.ts';

/** Lists the keyboard shortcuts of the screen or dialog that is open. */
export const Help = ({ close }: { close: () => void }) => {
  const shownKeys = new Map(activeKeys().map((key) => [`${key.key} ${key.what}`, key]));
  return (
    <Dialog
      title="Keys"
      close={close}
      wide
      footer={
        <button class="btn" type="button" onClick={close}>
          Close
        </button>
      }
    >
      <label class="row">
        <input
          class="box"
          type="checkbox"
          checked={singleKeys.value}
          onChange={({ currentTarget }) => (singleKeys.value = currentTarget.checked)}
        />
        Use single letters as shortcuts, except while you type in a field.
      </label>
      <dl class="keys">
        {[...shownKeys.values()].map(({ key, what }) => (
          <div key={key} class="row between">
            <dt>{what}</dt>
            <dd>
              {key.split(/[ +]/).map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dd>
          </div>
        ))}
        <div class="row between">
          <dt>Close, clear, or leave a field</dt>
          <dd>
            <kbd>Esc</kbd>
          </dd>
        </div>
      </dl>
    </Dialog>
  );
};
