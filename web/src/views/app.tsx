/** The page: what is where. */

export function App() {
  return (
    <main>
      <h1>agenthost</h1>
    </main>
  );
}
