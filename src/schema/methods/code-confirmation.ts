import { InputType } from 'type-graphql';
import { IsText, TextField } from '../rules';

@InputType({ description: 'Confirms a payment with the code that the payer received (spec 4.5).' })
export class CodeConfirmationInput {
  @TextField('The code that the payer provides.', IsText(64)) code!: string;
}
