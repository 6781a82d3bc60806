package structured

import (
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/plaintext"
)

// Hold checks a successful answer against the schema: the text becomes the JSON text. The
// error is bad_output where the answer does not meet it, and problem says why, for
// [Complaint]. A nil Schema accepts every answer.
func (s *Schema) Hold(resp *call.Response) (problem string, failed *call.Error) {
	if s == nil {
		return "", nil
	}
	text, problem := s.Accept(resp.Text)
	if problem != "" {
		return problem, &call.Error{
			Backend: resp.Backend, Reason: call.ReasonBadOutput,
			Message: plaintext.OneLine("the answer does not meet the schema: " + problem),
			Partial: resp.Text, Usage: resp.Usage, Stage: call.StageStarted,
		}
	}
	resp.Text = text
	return "", nil
}

// Complaint asks the model for a correction.
func Complaint(problem string) string {
	return "Your answer does not meet the JSON Schema that was given:\n" + problem +
		"\nAnswer again with the corrected JSON value, and with nothing else: no explanation, no code fence."
}

// Repaired marks an answer that the model has corrected.
func Repaired(resp *call.Response) {
	resp.Flags = append(resp.Flags, call.FlagRepaired)
	resp.Warnings = append(resp.Warnings, "the first answer did not meet the schema; this is a corrected one")
}
