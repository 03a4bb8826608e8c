/** The records that the processors read and write. They stand in for the databases of a company, so memory is enough. */
export interface Books {
  hire(employeeId: number): void;
  isEmployee(employeeId: number): boolean;
  addArticle(article: string): void;
  /** Records the stock of an article; false if there is no such article. */
  setStock(article: string, count: number): boolean;
  stockOf(article: string): number | undefined;
  /** Reads the total from the picture of a receipt. A real library for pictures may crash. */
  totalOn(picture: string): number;
  note(line: string): void;
  readonly notes: readonly string[];
}

export function createBooks(write: (line: string) => void = () => {}): Books {
  const employees = new Set([7]);
  const stock = new Map([['tea', 0]]);
  const notes: string[] = [];
  return {
    hire: (employeeId) => void employees.add(employeeId),
    isEmployee: (employeeId) => employees.has(employeeId),
    addArticle: (article) => void stock.set(article, 0),
    setStock: (article, count) => stock.has(article) && Boolean(stock.set(article, count)),
    stockOf: (article) => stock.get(article),
    totalOn: (picture) => Number.parseInt(picture, 10),
    note(line) {
      notes.push(line);
      write(line);
    },
    notes,
  };
}
