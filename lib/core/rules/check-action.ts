import { typeOfSchema } from '#core/checks/json-schema-types';
import { didYouMean } from '#core/checks/suggest';
import { readableOf } from '#core/checks/type-check';
import { text, unionOf, unknown } from '#core/checks/types';
import { type Activity, isRemote, limits, type WorkflowDefinition } from '#core/definition/definition';
import { programOf } from '#core/definition/program';
import { checkValue, type RuleProblem, type RuleValue, type RuleWorld } from './check-expressions.ts';
import { patternsOf, type Rule, type RuleAction, type RuleEventKind } from './rule.ts';

/** An action with what it is checked against. */
interface Place {
  readonly rule: Rule;
  readonly targets: readonly WorkflowDefinition[];
  readonly world: RuleWorld;
}

const problem = (field: string, code: string, detail: string): RuleProblem => ({
  pointer: field === '' ? '/action' : `/action/${field}`,
  code,
  detail,
});

/** Returns the problems of a rule's action: of the events that it goes with, of the names in it, and of its values. */
export function actionProblems(rule: Rule, targets: readonly WorkflowDefinition[], world: RuleWorld): readonly RuleProblem[] {
  const place = { rule, targets, world };
  const { action } = rule;
  const needed = kindsOf[action.kind];
  const wrong = needed && patternsOf(rule).find(({ kind }) => !needed.includes(kind));
  if (wrong)
    return [problem('', 'not-applicable', `${action.kind} goes with events of kind ${needed.join(' or ')}, not with ${wrong.kind}.`)];
  const found = namesProblems(action, place);
  return found.length > 0 ? found : valuesOf(action, place).flatMap((value) => checkValue(value, rule, targets, world.catalog));
}

/** The kinds of events that an action goes with. An action that is not listed goes with all of them. */
const kindsOf: { readonly [kind in RuleAction['kind']]?: readonly RuleEventKind[] } = {
  retry: ['exception', 'step-late'],
  skip: ['exception', 'step-late'],
  handle: ['exception', 'step-late', 'order-age', 'signal'],
  'compensate-with': ['step-state'],
};

function namesProblems(action: RuleAction, place: Place): readonly RuleProblem[] {
  switch (action.kind) {
    case 'retry':
      return secondsProblems('afterSeconds', action.afterSeconds);
    case 'task':
      return secondsProblems('dueSeconds', action.dueSeconds);
    case 'replace-input':
      return pathProblems('path', action.path, place, isRemote, 'step');
    case 'recover':
      return action.path === undefined ? [] : pathProblems('path', action.path, place, () => true, 'activity');
    case 'handle':
      return handleProblems(action, place);
    case 'compensate-with':
      return compensationProblems(action, place);
    case 'signal':
      return signalProblems(action, place);
    case 'raise':
      return /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(action.type)
        ? []
        : [problem('type', 'invalid-format', `Expected a fault's name of 1 to 64 letters and digits, got "${action.type}".`)];
    default:
      return [];
  }
}

const secondsProblems = (field: string, seconds: number | undefined): readonly RuleProblem[] =>
  seconds === undefined || (seconds >= 0 && seconds <= limits.secondsMax)
    ? []
    : [problem(field, 'out-of-range', `Expected 0 to ${limits.secondsMax} seconds, got ${seconds}.`)];

/** Returns the problems of a path in the action. The rule must name the workflow of that path. */
function pathProblems(field: string, path: string, { rule, targets }: Place, isGood: (node: Activity) => boolean, what: string) {
  if (rule.object?.workflow === undefined)
    return [
      { pointer: '/object/workflow', code: 'required', detail: `action.${field} is the path of one ${what}: name its workflow here.` },
    ];
  const paths = targets.flatMap((each) => [...programOf(each).nodes].filter(([, node]) => isGood(node)).map(([at]) => at));
  return paths.includes(path)
    ? []
    : [problem(field, 'unknown-step', `${rule.object.workflow} has no ${what} at "${path}".${didYouMean(path, paths)}`)];
}

function handleProblems({ workflow, version, control, path }: RuleAction & { kind: 'handle' }, place: Place): readonly RuleProblem[] {
  const { workflows } = place.world;
  const named = workflows.filter(({ name }) => name === workflow);
  const names = [...new Set(workflows.map(({ name }) => name))];
  if (named.length === 0)
    return [problem('workflow', 'unknown-workflow', `The app has no workflow "${workflow}".${didYouMean(workflow, names)}`)];
  if (version !== undefined && !named.some((each) => each.version === version)) {
    const versions = named.map((each) => each.version).join(', ');
    return [problem('version', 'unknown-workflow', `${workflow} has no version ${version}. It has ${versions}.`)];
  }
  if (control !== 'resumed')
    return path === undefined ? [] : [problem('path', 'not-applicable', 'path goes with control "resumed": the order goes on there.')];
  if (path === undefined) return [problem('path', 'required', 'control "resumed" needs path: the activity at which the order goes on.')];
  return pathProblems('path', path, place, () => true, 'activity');
}

function compensationProblems(
  { agent, operation }: RuleAction & { kind: 'compensate-with' },
  { rule, targets, world: { catalog } }: Place,
): readonly RuleProblem[] {
  const { step } = rule.object ?? {};
  const isOfUndo = patternsOf(rule).every(({ type }) => type === 'Compensating');
  const agents = [...(catalog?.all?.keys() ?? [])];
  const operations = catalog?.all?.get(agent);
  return [
    ...(isOfUndo
      ? []
      : [
          {
            pointer: '/event/type',
            code: 'required',
            detail: 'compensate-with goes with the event {"kind": "step-state", "type": "Compensating"}.',
          },
        ]),
    ...(step === undefined
      ? [
          {
            pointer: '/object/step',
            code: 'required',
            detail: 'compensate-with undoes one step that has no undo of its own: name the path of that step.',
          },
        ]
      : targets.some((each) => programOf(each).nodes.get(step)?.undo)
        ? [{ pointer: '/object/step', code: 'has-undo', detail: `${step} has an undo of its own, which the engine requests.` }]
        : []),
    ...(catalog?.all && !operations
      ? [problem('agent', 'unknown-agent', `The app has no agent "${agent}".${didYouMean(agent, agents)}`)]
      : []),
    ...(operations && !operations.includes(operation)
      ? [
          problem(
            'operation',
            'unknown-operation',
            `The agent "${agent}" has no operation "${operation}".${didYouMean(operation, operations)}`,
          ),
        ]
      : []),
  ];
}

function signalProblems({ name }: RuleAction & { kind: 'signal' }, { rule, targets }: Place): readonly RuleProblem[] {
  const names = targets.flatMap((each) => waitsIn(each).map((node) => node.signal));
  if (names.includes(name)) return [];
  const whose = rule.object?.workflow ?? 'No workflow';
  return [problem('name', 'unknown-signal', `${whose} waits for no signal "${name}".${didYouMean(name, names)}`)];
}

const waitsIn = (workflow: WorkflowDefinition) =>
  [...programOf(workflow).nodes.values()].flatMap((node) => (node.activity === 'waitFor' ? [node] : []));

/** Returns the values of an action with the types that their receivers expect. */
function valuesOf(action: RuleAction, { rule, targets, world: { catalog } }: Place): readonly RuleValue[] {
  const words = (field: string, template: RuleValue['template'] | undefined): readonly RuleValue[] =>
    template === undefined ? [] : [{ pointer: `/action/${field}`, template, wanted: text, receiver: `the action's ${field}` }];
  switch (action.kind) {
    case 'skip': {
      const path = rule.object?.step;
      const outputs = targets.map((each) => {
        const node = programOf(each).nodes.get(path ?? '');
        return (node && readableOf(each, catalog)?.step(node.name)) ?? unknown;
      });
      const wanted = path === undefined || outputs.length === 0 ? unknown : unionOf(outputs);
      return [{ pointer: '/action/output', template: action.output, wanted, receiver: path ?? 'the step' }];
    }
    case 'replace-input': {
      const inputs = targets.flatMap((each) => {
        const node = programOf(each).nodes.get(action.path);
        return node && isRemote(node) ? [typeOfSchema(catalog?.schemasOf(node.agent, node.operation)?.input)] : [];
      });
      return [{ pointer: '/action/input', template: action.input, wanted: unionOf(inputs), receiver: action.path }];
    }
    case 'compensate-with': {
      const wanted = typeOfSchema(catalog?.schemasOf(action.agent, action.operation)?.input);
      return [{ pointer: '/action/input', template: action.input, wanted, receiver: `${action.agent}.${action.operation}` }];
    }
    case 'signal': {
      const payloads = targets.flatMap((each) => waitsIn(each).filter(({ signal }) => signal === action.name));
      const wanted = unionOf(payloads.map(({ payload }) => typeOfSchema(payload)));
      return [{ pointer: '/action/payload', template: action.payload, wanted, receiver: `the signal ${action.name}` }];
    }
    case 'raise':
      return words('message', action.message);
    case 'announce':
      return words('text', action.text);
    case 'task':
      return words('text', action.text);
    default:
      return [];
  }
}
