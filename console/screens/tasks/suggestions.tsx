import type { Suggestion } from '../../api/types.ts';
import { Panel } from '../../parts/states.tsx';
import { Said } from '../../parts/text.tsx';
import { kindName } from '../bulk/text.tsx';
import { oddsText } from '../solutions/text.ts';

const reasons: { readonly [why in Suggestion['why']]: string } = {
  'same-fingerprint': 'made for this exception',
  condition: 'its condition is true here',
};

interface Props {
  readonly suggestions: readonly Suggestion[];
  /** The id of the chosen solution, or an empty text for an own instruction. */
  readonly chosen: string;
  readonly choose: (id: string) => void;
}

/** The solutions that apply, the most trusted first, and the way to an own instruction. */
export const Suggestions = ({ suggestions, chosen, choose }: Props) => (
  <Panel title="Suggested" aside="the most trusted first">
    <div class="body choices" role="radiogroup" aria-label="Suggested solutions">
      {suggestions.map(({ solutionId, name, why, instruction, feasible, ...figures }) => (
        <label key={solutionId} class={`opt ${chosen === solutionId ? 'on' : ''} ${feasible ? '' : 'no'}`}>
          <input type="radio" name="solution" checked={chosen === solutionId} onChange={() => choose(solutionId)} />
          <b>
            <Said>{name}</Said>
          </b>
          <span class="odds">{oddsText(figures)}</span>
          <span class="sub">{`${kindName(instruction.kind)}, ${reasons[why]}${feasible ? '' : '. Not possible for this order now.'}`}</span>
        </label>
      ))}
      <label class={`opt ${chosen === '' ? 'on' : ''}`}>
        <input type="radio" name="solution" checked={chosen === ''} onChange={() => choose('')} />
        <b>My own instruction</b>
        <span class="sub">Choose what to do, with your values.</span>
      </label>
    </div>
  </Panel>
);
