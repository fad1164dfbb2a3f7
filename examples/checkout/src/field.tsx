import { useId, type InputHTMLAttributes } from 'react';

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  /** What is wrong with what was typed. */
  mistake?: string | undefined;
}

/** An input with its label, and with what is wrong with it where a screen reader says it too. */
export function Field({ label, mistake, ...input }: FieldProps) {
  const id = useId();
  return (
    <p className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        required
        aria-invalid={mistake !== undefined}
        aria-describedby={mistake && `${id}-mistake`}
        {...input}
      />
      {mistake && (
        <span className="mistake" id={`${id}-mistake`}>
          {mistake}
        </span>
      )}
    </p>
  );
}
