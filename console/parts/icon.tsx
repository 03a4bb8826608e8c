import { type IconName, icons } from './icons.ts';

export const Icon = ({ name, tone = '' }: { name: IconName; tone?: string }) => (
  <svg class={`i ${tone}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={icons[name]} stroke-dasharray={name === 'idle' ? '2.2 2.2' : undefined} />
  </svg>
);
