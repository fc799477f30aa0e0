/** A form made from a schema of settings: each property with the control that fits its type. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Json, JsonObject, SessionConfigPropertySchema, SessionConfigSchema } from "../../ahp/wire";

export type Values = JsonObject;

/** A value to choose. */
export interface Suggestion {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

interface SchemaFormProps {
  schema: Pick<SessionConfigSchema, "properties" | "required">;
  values: Values;
  onChange: (values: Values) => void;
  /** Which settings can be changed; all by default. Others are read-only. */
  isEditable?: (property: SessionConfigPropertySchema) => boolean;
  /** Finds values for a property whose choices are not in the schema. */
  suggest?: (property: string, query: string) => Promise<readonly Suggestion[]>;
}

/** Show the settings. */
export function SchemaForm({ schema, values, onChange, isEditable = () => true, suggest }: SchemaFormProps) {
  const required = new Set(schema.required ?? []);
  return (
    <>
      {Object.entries(schema.properties).map(([name, property]) => (
        <Property
          key={name}
          name={name}
          property={property}
          needed={required.has(name)}
          value={values[name] ?? property.default}
          disabled={property.readOnly === true || !isEditable(property)}
          suggest={property.enumDynamic ? suggest : undefined}
          onChange={(value) => onChange(changed(values, name, value))}
        />
      ))}
    </>
  );
}

function changed(values: Values, name: string, value: Json | undefined): Values {
  const { [name]: _, ...others } = values;
  return value === undefined ? others : { ...others, [name]: value };
}

interface PropertyProps {
  name: string;
  property: SessionConfigPropertySchema;
  needed: boolean;
  value: Json | undefined;
  disabled: boolean;
  suggest: SchemaFormProps["suggest"];
  onChange: (value: Json | undefined) => void;
}

function Property(props: PropertyProps) {
  const { property, needed } = props;
  const id = useId();
  const isBox = property.type === "boolean";
  const label = (
    <label for={id}>
      {property.title}
      {needed && <span class="needed"> (needed)</span>}
    </label>
  );
  return (
    <div class={isBox ? "field box" : "field"}>
      {!isBox && label}
      <Control {...props} id={id} />
      {isBox && label}
      {property.description && (
        <small id={`${id}-hint`} class="faint">
          {property.description}
        </small>
      )}
    </div>
  );
}

function Control(props: PropertyProps & { id: string }) {
  const { property, value, disabled, onChange, id } = props;
  const common = { id, disabled, "aria-describedby": property.description ? `${id}-hint` : undefined };
  if (property.type === "boolean") {
    return (
      <input
        type="checkbox"
        checked={value === true}
        onChange={(event) => onChange(event.currentTarget.checked)}
        {...common}
      />
    );
  }
  if (property.enum) return <Select {...props} common={common} />;
  if (props.suggest) return <Suggesting {...props} suggest={props.suggest} common={common} />;
  if (property.type === "array" || property.type === "object")
    return <JsonControl {...props} common={common} />;
  const isNumber = property.type === "number";
  return (
    <input
      type="text"
      autocomplete="off"
      inputMode={isNumber ? "decimal" : "text"}
      value={value === undefined ? "" : String(value)}
      onChange={(event) => onChange(typed(event.currentTarget.value, isNumber))}
      {...common}
    />
  );
}

function typed(text: string, isNumber: boolean): Json | undefined {
  if (!isNumber) return text;
  const number = Number(text);
  return text.trim() === "" || Number.isNaN(number) ? undefined : number;
}

type Common = { id: string; disabled: boolean; "aria-describedby": string | undefined };

function Select({ property, value, needed, onChange, common }: PropertyProps & { common: Common }) {
  const choices = property.enum ?? [];
  // An option is a text for the browser, whatever its value is.
  const name = (choice: Json | undefined) => String(choice);
  const chosen = choices.find((choice) => choice === value);
  const isSet = chosen !== undefined;
  const choose = (text: string) => onChange(choices.find((choice) => name(choice) === text));
  return (
    <select
      {...common}
      value={isSet ? name(chosen) : ""}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {!isSet && <option value="">{needed ? "Choose" : "Not set"}</option>}
      {choices.map((choice, at) => (
        <option key={name(choice)} value={name(choice)} title={property.enumDescriptions?.[at]}>
          {property.enumLabels?.[at] ?? name(choice)}
        </option>
      ))}
    </select>
  );
}

const SUGGEST_MS = 150;

/** A text with values to choose from, fetched while typing; the browser's own list shows them. */
function Suggesting({
  name,
  value,
  suggest,
  onChange,
  common,
}: PropertyProps & { suggest: NonNullable<SchemaFormProps["suggest"]>; common: Common }) {
  const items = useSignal<readonly Suggestion[]>([]);
  const timer = useRef<number | undefined>(undefined);
  const newest = useRef(0);
  const find = async (query: string) => {
    const mine = ++newest.current;
    const found = await suggest(name, query).catch(() => []);
    if (mine === newest.current) items.value = found;
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <>
      <input
        type="text"
        autocomplete="off"
        list={`${common.id}-list`}
        value={value === undefined ? "" : String(value)}
        onFocus={(event) => void find(event.currentTarget.value)}
        onInput={(event) => {
          const query = event.currentTarget.value;
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => void find(query), SUGGEST_MS);
        }}
        onChange={(event) => onChange(event.currentTarget.value)}
        {...common}
      />
      <datalist id={`${common.id}-list`}>
        {items.value.map((item) => (
          <option key={item.value} value={item.value}>
            {item.description ? `${item.label}: ${item.description}` : item.label}
          </option>
        ))}
      </datalist>
    </>
  );
}

/** Lists and objects as JSON: rare, and better than no field. */
function JsonControl({ value, onChange, common }: PropertyProps & { common: Common }) {
  const text = useSignal(value === undefined ? "" : JSON.stringify(value, null, 2));
  const problem = useSignal("");
  const read = () => {
    try {
      onChange(text.value.trim() === "" ? undefined : JSON.parse(text.value));
      problem.value = "";
    } catch (error) {
      problem.value = `That is not JSON: ${(error as Error).message}`;
    }
  };
  return (
    <>
      <textarea
        {...common}
        class="mono"
        rows={3}
        value={text.value}
        aria-invalid={problem.value !== ""}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onChange={read}
      />
      {problem.value && <small class="problem">{problem.value}</small>}
    </>
  );
}
