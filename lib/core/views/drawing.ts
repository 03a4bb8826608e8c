/** A workflow as boxes and arrows, independent of the renderer: the order of activities, their undos, and the path of each fault. */
export interface Drawing {
  readonly name: string;
  readonly version: number;
  readonly items: readonly DrawnItem[];
}

export type DrawnItem = DrawnNode | DrawnEdge | DrawnFrame;

export type NodeKind =
  | 'begin'
  | 'end'
  | 'step'
  | 'undo'
  | 'choice'
  | 'wait'
  | 'raise'
  | 'terminate'
  | 'compensate'
  | 'assign'
  /** Several arrows meet or part. It has no title. */
  | 'join'
  | 'other';

export interface DrawnNode {
  readonly item: 'node';
  /** Unique in the drawing, frames included. */
  readonly id: string;
  readonly kind: NodeKind;
  readonly title: string;
  /** The operation: `payment.charge`. */
  readonly detail?: string;
  /** The activity; for an undo, the activity that it undoes. Absent for nodes that do not stand for an activity. */
  readonly path?: string;
}

/** An arrow from a node. A fault leaves from a frame, and an undo is attached to its step and leads nowhere. */
export interface DrawnEdge {
  readonly item: 'edge';
  readonly kind: 'flow' | 'fault' | 'undo';
  readonly from: string;
  readonly to: string;
  /** The condition of a branch, or the fault's short type. */
  readonly label?: string;
}

/** A composite that repeats its content or has handlers. */
export interface DrawnFrame {
  readonly item: 'frame';
  readonly id: string;
  readonly kind: 'scope' | 'retry' | 'loop';
  readonly title: string;
  readonly path: string;
  readonly items: readonly DrawnItem[];
}
