import { useId, type InputHTMLAttributes } from 'react';

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  /** Message about an invalid value. */
  mistake?: string | undefined;
}

/** An input with its label and an accessible error. */
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
