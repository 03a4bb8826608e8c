import { get } from '../../api/client.ts';
import { has } from '../../api/session.ts';
import type { Rule, RuleVersion } from '../../api/types.ts';
import { ruleCommandOf } from '../../instructions/commands.ts';
import { EditorFoot, SaveRow } from '../../parts/editor-foot.tsx';
import { ProblemNote } from '../../parts/problem.tsx';
import { type Author, type Editor as Edited, useEditor } from '../../parts/use-editor.ts';
import { BackTest } from './back-test.tsx';
import { Mode, type PartProps, Parts, Text, WholeJson } from './fields.tsx';
import { builtRule, formOf, type RuleForm } from './form.ts';

interface Props {
  /** The rule that is edited; undefined for a new one. */
  readonly rule: Rule | undefined;
  readonly refresh: () => void;
}

/** The editor of a rule. A save with an error changes nothing, and says where the error is. */
export function Editor({ rule, refresh }: Props) {
  const effect = ' It takes effect within ten seconds.';
  const editor: Edited<RuleForm> = useEditor({ what: 'rule', item: rule, formOf, build: builtRule, authorOf, refresh, effect });
  const { form, change, problem, isChanged, built } = editor;
  const errors = problem?.errors ?? [];
  const isOfApp = rule?.origin === 'app';
  const mayWrite = has('admin');
  const conditionError = errors.find(({ pointer }) => pointer === '/condition');
  const others = errors.filter(({ pointer }) => pointer !== '/condition');
  const props: PartProps = { form, change, isDisabled: isOfApp || !mayWrite };
  return (
    <section class="panel" aria-label={rule ? `Rule ${rule.id}` : 'New rule'}>
      <header>
        <h2>{rule ? rule.id : 'New rule'}</h2>
        <span class="muted">{rule ? `version ${rule.version}${isChanged ? ', changed by you, not saved' : ''}` : 'not saved'}</span>
        {isOfApp ? (
          <span class="end tag">from the app</span>
        ) : (
          <button
            class="btn bare sm end"
            type="button"
            onClick={() => change({ isJson: !form.isJson, ...(form.isJson ? {} : jsonOf(built)) })}
          >
            {form.isJson ? 'Fields' : 'JSON'}
          </button>
        )}
      </header>
      <div class="body stack">
        {isOfApp && <p class="hint">The app declares this rule. Here only its mode changes.</p>}
        {rule === undefined && <Text label="Id (small letters, digits and -)" name="id" {...props} />}
        {form.isJson ? <WholeJson {...props} /> : <Parts {...props} conditionError={conditionError} />}
        <Mode {...props} isDisabled={!mayWrite} />
        {mayWrite && <Text label="Reason, for the audit" name="reason" {...props} isDisabled={false} placeholder="Why the rule changes" />}
        {(others.length > 0 || (problem && errors.length === 0)) && problem && <ProblemNote problem={problem} />}
        {mayWrite ? (
          <SaveRow what="rule" version={rule?.version} editor={editor} />
        ) : (
          <p class="hint">Writing rules needs the role admin.</p>
        )}
        <EditorFoot
          what="rule"
          item={rule}
          editor={editor}
          commandOf={ruleCommandOf}
          mayDelete={mayWrite && rule?.origin === 'people'}
          refresh={refresh}
        >
          <p>The rule stops acting within ten seconds. Its versions are kept. To stop it for a while, set its mode to off.</p>
        </EditorFoot>
      </div>
      {'body' in built && <BackTest body={built.body} id={form.id} />}
    </section>
  );
}

const jsonOf = (built: ReturnType<typeof builtRule>): Partial<RuleForm> =>
  'body' in built ? { json: JSON.stringify(built.body, null, 2) } : {};

async function authorOf(id: string): Promise<Author | undefined> {
  const { items } = await get<{ readonly items: readonly RuleVersion[] }>(`/rules/${encodeURIComponent(id)}/versions?limit=1`);
  return items[0];
}
