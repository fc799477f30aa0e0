/** The list of sessions: search, archive, and a row for each under its date; scrolling loads more. */
import { signal, useComputed, useSignal } from "@preact/signals";
import { Fragment } from "preact";
import { memo } from "preact/compat";
import { useEffect, useRef } from "preact/hooks";
import { client } from "../../ahp";
import type { SessionSummary } from "../../ahp/wire";
import { Icon } from "../parts/icon";
import { Menu } from "../parts/menu";
import { rove } from "../parts/roving";
import { drawer, hrefOf, route } from "../route";
import { sessionMenu } from "./actions";
import { StatusDot } from "./badge";
import { contents, searchContents } from "./contents";
import { isMarkedUnread } from "./opened";
import { ago, baseName, filterSessions, periodOf, splitAtWords } from "./summaries";

const PAGE = 50;
const search = signal("");
const archived = signal(false);
/** Counts minutes, so that "5 min" becomes "6 min". */
const minute = signal(Date.now());
setInterval(() => (minute.value = Date.now()), 60_000);

/** Show the sessions. */
export function SessionList() {
  const shown = useSignal(PAGE);
  const all = client.sessions.value;
  const fitting = useComputed(() =>
    filterSessions(client.sessions.value ?? [], {
      text: search.value,
      archived: archived.value,
      found: contents.value.excerpts,
    }),
  ).value;
  const chosen = route.value.view === "session" ? route.value.uri : undefined;
  const first = fitting.some((one) => one.resource === chosen) ? chosen : fitting[0]?.resource;
  return (
    <>
      <div class="search">
        <Icon name="search" />
        <input
          id="session-search"
          type="search"
          placeholder="Search sessions"
          aria-label="Search sessions"
          value={search.value}
          dir="auto"
          onInput={(event) => {
            search.value = event.currentTarget.value;
            shown.value = PAGE;
            searchContents(search.value);
          }}
        />
        <button
          type="button"
          class="quiet"
          aria-pressed={archived.value}
          title="Archive"
          aria-label="Show archived sessions"
          onClick={() => (archived.value = !archived.value)}
        >
          <Icon name="archive" />
        </button>
      </div>
      <p class="unseen" role="status">
        {search.value && `${fitting.length} sessions found`}
      </p>
      <ul
        class="sessions scroll"
        aria-label={archived.value ? "Archived sessions" : "Sessions"}
        onKeyDown={(event) => rove(event, ".session-link")}
      >
        {fitting.slice(0, shown.value).map((summary, at) => (
          <Fragment key={summary.resource}>
            <Period
              at={Date.parse(summary.modifiedAt)}
              after={at > 0 ? Date.parse(fitting[at - 1]!.modifiedAt) : undefined}
              now={minute.value}
            />
            <Row
              summary={summary}
              isChosen={summary.resource === chosen}
              isFirst={summary.resource === first}
              excerpt={search.value ? contents.value.excerpts.get(summary.resource) : undefined}
              now={minute.value}
            />
          </Fragment>
        ))}
        {fitting.length > shown.value && (
          <More onMore={() => (shown.value += PAGE)} left={fitting.length - shown.value} />
        )}
        {all && fitting.length === 0 && <li class="faint pad">{emptyWords()}</li>}
        {search.value && contents.value.note && <li class="faint pad">{contents.value.note}</li>}
        {!all && <li class="faint pad">Loading</li>}
      </ul>
    </>
  );
}

function emptyWords(): string {
  if (search.value) return "No session fits.";
  return archived.value ? "Nothing is archived." : "There are no sessions yet.";
}

/** The heading of a day, a week or a month, where one begins. */
function Period({ at, after, now }: { at: number; after: number | undefined; now: number }) {
  const period = periodOf(at, now);
  if (after !== undefined && periodOf(after, now) === period) return null;
  return (
    <li class="period">
      <h2>{period}</h2>
    </li>
  );
}

interface RowProps {
  summary: SessionSummary;
  isChosen: boolean;
  /** Whether the Tab key enters the list here. */
  isFirst: boolean;
  /** The search, with excerpts. */
  excerpt: string | undefined;
  now: number;
}

const Row = memo(function Row({ summary, isChosen, isFirst, excerpt, now }: RowProps) {
  const folder = summary.workingDirectories?.[0];
  const details = [agentName(summary.provider), folder && baseName(folder)];
  return (
    <li class={isChosen ? "session chosen" : "session"} data-session={summary.resource}>
      <a
        class="session-link"
        href={hrefOf(summary.resource)}
        aria-current={isChosen ? "page" : undefined}
        onClick={() => (drawer.value = false)}
        tabIndex={isFirst ? 0 : -1}
      >
        <StatusDot status={summary.status} isUnread={isMarkedUnread(summary)} />
        <span class="title" dir="auto">
          {summary.title || "Untitled"}
        </span>
        <time class="faint" dateTime={summary.modifiedAt}>
          {ago(Date.parse(summary.modifiedAt), now)}
        </time>
        {excerpt ? (
          <Excerpt text={excerpt} />
        ) : (
          <span class="details faint" dir="auto">
            {summary.activity || details.filter(Boolean).join(" · ")}
          </span>
        )}
      </a>
      <Menu label={`Actions for ${summary.title}`} items={sessionMenu(summary)} tabIndex={isFirst ? 0 : -1} />
    </li>
  );
});

/** An excerpt, with the words of the search marked. */
function Excerpt({ text }: { text: string }) {
  return (
    <span class="details excerpt faint" dir="auto">
      {splitAtWords(text, search.value).map((piece, at) => (at % 2 ? <mark>{piece}</mark> : piece))}
    </span>
  );
}

/** The name of an agent for people. */
export function agentName(provider: string): string {
  return client.root.value?.agents.find((one) => one.provider === provider)?.displayName ?? provider;
}

function More({ onMore, left }: { onMore: () => void; left: number }) {
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && onMore(), {
      rootMargin: "200px",
    });
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  });
  return (
    <li ref={element} class="pad">
      <button type="button" class="quiet" onClick={onMore}>
        {left} more
      </button>
    </li>
  );
}
