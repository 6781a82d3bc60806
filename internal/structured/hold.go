package structured

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/plaintext"
)

// Hold validates a successful answer against the schema, and sets the text to the JSON in it. The error has the reason
// bad_output if the answer does not match, and problem is the input for [Complaint]. A nil Schema accepts every answer.
func (s *Schema) Hold(resp *call.Response) (problem string, failed *call.Error) {
	if s == nil {
		return "", nil
	}
	text, problem := s.Accept(resp.Text)
	if problem != "" {
		return problem, &call.Error{
			Backend: resp.Backend, Reason: call.ReasonBadOutput,
			Message: plaintext.OneLine("the answer does not match the schema: " + problem),
			Partial: resp.Text, Usage: resp.Usage, Warnings: resp.Warnings, Stage: call.StageStarted,
		}
	}
	resp.Text = text
	return "", nil
}

// Complaint returns the prompt that asks the model for a correction.
func Complaint(problem string) string {
	return "Your answer does not meet the JSON Schema that was given:\n" + problem +
		"\nAnswer again with the corrected JSON value, and with nothing else: no explanation, no code fence."
}

// Repaired marks a response as corrected by the model.
func Repaired(resp *call.Response) {
	resp.Flags = append(resp.Flags, call.FlagRepaired)
	resp.Warnings = append(resp.Warnings, "the first answer did not match the schema; the model corrected it")
}
