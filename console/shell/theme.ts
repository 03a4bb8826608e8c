import { effect } from '@preact/signals';
import { stored } from '../stored.ts';

export type Theme = 'system' | 'light' | 'dark';

export const theme = stored<Theme>('redress-theme', 'system');

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
});

const next: { readonly [theme in Theme]: Theme } = { system: 'light', light: 'dark', dark: 'system' };
export const turnTheme = (): void => {
  theme.value = next[theme.value];
};
