export function AapView({ session }: { session: string | undefined }) {
  return <div class="empty">{session}</div>;
}
