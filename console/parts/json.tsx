import { useState } from 'preact/hooks';
import { shown } from './text.tsx';

const secrets = new Set(['[secret]', '[masked]', '••••']);
const shortMax = 60;

/** JSON with folding. Values with many entries, and those that are nested deeply, begin folded. */
export const Json = ({ value, label }: { value: unknown; label: string }) => (
  <pre class="code json" tabIndex={0} aria-label={label}>
    <Value value={value} depth={0} />
  </pre>
);

function Value({ value, depth }: { value: unknown; depth: number }) {
  if (typeof value === 'string') return <Text text={value} />;
  if (value === null || typeof value !== 'object') return <span class="k">{String(value)}</span>;
  const entries = Array.isArray(value) ? value.map((each, index) => [index, each] as const) : Object.entries(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) return <span class="op">{`${open}${close}`}</span>;
  return <Folding entries={entries} open={open} close={close} depth={depth} isList={Array.isArray(value)} />;
}

const Text = ({ text }: { text: string }) =>
  secrets.has(text) ? <span class="muted">•••• secret</span> : <span class="str">{`"${shown(text)}"`}</span>;

interface FoldingProps {
  readonly entries: readonly (readonly [string | number, unknown])[];
  readonly open: string;
  readonly close: string;
  readonly depth: number;
  readonly isList: boolean;
}

function Folding({ entries, open, close, depth, isList }: FoldingProps) {
  const [isOpen, setOpen] = useState(depth < 3 && entries.length <= 50);
  const plain = entries.every(([, value]) => value === null || typeof value !== 'object');
  const inline = plain && isList && JSON.stringify(entries.map(([, value]) => value)).length < shortMax;
  if (inline)
    return (
      <>
        <span class="op">{open}</span>
        {entries.map(([key, value], index) => (
          <>
            {index > 0 && <span class="op">, </span>}
            <Value key={key} value={value} depth={depth + 1} />
          </>
        ))}
        <span class="op">{close}</span>
      </>
    );
  const indent = '  '.repeat(depth + 1);
  return (
    <>
      <button
        class="fold"
        type="button"
        aria-expanded={isOpen}
        aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${entries.length} values`}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? open : `${open} ${entries.length} … ${close}`}
      </button>
      {isOpen && (
        <>
          {entries.map(([key, value], index) => (
            <>
              {`\n${indent}`}
              {!isList && <span>{`"${shown(String(key))}": `}</span>}
              <Value key={key} value={value} depth={depth + 1} />
              {index < entries.length - 1 && <span class="op">,</span>}
            </>
          ))}
          {`\n${'  '.repeat(depth)}`}
          <span class="op">{close}</span>
        </>
      )}
    </>
  );
}
