import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { JsonObject } from '#core/data/json';
import { curlOf } from '../instructions/commands.ts';
import { go } from '../router.ts';
import { Copies } from './copies.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { Icon } from './icon.tsx';
import { At, Said, shown } from './text.tsx';
import type { Editor, Overtaken } from './use-editor.ts';

type Edited = Pick<Editor<never>, 'built' | 'isChanged' | 'busy' | 'overtaken' | 'save' | 'saveOver' | 'discard'> & {
  readonly form: { readonly id: string; readonly reason: string };
};

interface RowProps {
  readonly what: 'rule' | 'solution';
  /** The version that is edited; undefined for a new rule or solution. */
  readonly version: number | undefined;
  readonly editor: Edited;
}

/** The buttons that save or discard what was typed, with a note if somebody else was faster. */
export function SaveRow({ what, version, editor: { form, built, isChanged, busy, overtaken, save, saveOver, discard } }: RowProps) {
  const cannot = 'missing' in built || form.reason.trim() === '' || busy || !isChanged;
  return (
    <>
      {overtaken && <OvertakenNote overtaken={overtaken} />}
      <div class="row">
        {overtaken ? (
          <button class="btn go harm" type="button" disabled={cannot} onClick={saveOver}>
            {`Save over version ${overtaken.version}`}
          </button>
        ) : (
          <button class="btn go" type="button" disabled={cannot} onClick={save}>
            {version === undefined ? `Save the ${what}` : `Save version ${version + 1}`}
          </button>
        )}
        {isChanged && (
          <button class={overtaken ? 'btn' : 'btn bare'} type="button" onClick={discard}>
            {overtaken ? `Take version ${overtaken.version}` : 'Discard'}
          </button>
        )}
        <span class="hint">{'missing' in built ? built.missing : isChanged && form.reason.trim() === '' ? 'Give a reason.' : ''}</span>
      </div>
    </>
  );
}

const OvertakenNote = ({ overtaken: { version, author, lines } }: { overtaken: Overtaken }) => (
  <div class="note warn" role="alert">
    <Icon name="clock" />
    <div class="grow">
      <b>
        {author === undefined ? 'Somebody else' : author.by === null ? 'The app' : <Said>{author.by}</Said>}
        {` has changed it meanwhile: version ${version}`}
        {author?.at && (
          <>
            {' at '}
            <At at={author.at} />
          </>
        )}
        .
      </b>
      {author?.reason && (
        <div>
          “<Said>{author.reason}</Said>”
        </div>
      )}
      <div>Your text is still here, and not saved. Fields that you have not changed show the new version.</div>
      <details>
        <summary>{`What differs: version ${version} (-), yours (+)`}</summary>
        <pre class="code diff" tabIndex={0}>
          {lines
            .filter(({ sign }) => sign !== ' ')
            .map(({ sign, text }, index) => (
              <span key={index} class={sign === '-' ? 'del' : 'ins'}>{`${sign} ${shown(text.trim())}`}</span>
            ))}
        </pre>
      </details>
    </div>
  </div>
);

interface FootProps {
  readonly what: 'rule' | 'solution';
  /** The rule or solution that is edited; undefined for a new one. */
  readonly item: { readonly id: string; readonly version: number } | undefined;
  readonly editor: Pick<Edited, 'built' | 'form'>;
  readonly commandOf: (id: string, body: JsonObject, reason: string) => string;
  readonly mayDelete: boolean;
  readonly refresh: () => void;
  /** Says which effects its deletion has. */
  readonly children: ComponentChildren;
}

/** The same change at the command line and as a call, and the way to delete it. */
export function EditorFoot({ what, item, editor: { built, form }, commandOf, mayDelete, refresh, children }: FootProps) {
  const [isAsking, ask] = useState(false);
  if ('missing' in built || form.id === '') return null;
  const body = { ...built.body, reason: form.reason || 'why' };
  const headers: { [name: string]: string } = item ? { 'If-Match': `"${item.version}"` } : {};
  return (
    <Copies
      command={() => commandOf(form.id, built.body, body.reason)}
      curl={() => curlOf({ method: 'PUT', path: `/${what}s/${form.id}`, headers, body })}
    >
      {item && mayDelete && (
        <button class="btn bare sm end c-stop" type="button" onClick={() => ask(true)}>
          Delete…
        </button>
      )}
      {item && isAsking && (
        <DeleteDialog
          what={what}
          id={item.id}
          version={item.version}
          close={() => ask(false)}
          deleted={() => {
            refresh();
            go(`/${what}s`);
          }}
        >
          {children}
        </DeleteDialog>
      )}
    </Copies>
  );
}
