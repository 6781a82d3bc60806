package clichain

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// checkRequest finds the caller's mistakes that no backend could mend, before
// anything starts. It names the field, the value and what to do.
func checkRequest(req Request) *BackendError {
	for _, check := range []func(Request) *BackendError{checkMessages, checkTexts, checkOptions} {
		if err := check(req); err != nil {
			return err
		}
	}
	return nil
}

func checkMessages(req Request) *BackendError {
	turns := 0
	for i, m := range req.Messages {
		field := fmt.Sprintf("messages[%d]", i)
		if !slices.Contains([]Role{RoleSystem, RoleUser, RoleAssistant}, m.Role) {
			return badRequest(field+".role", "%q is none of system, user, assistant", m.Role)
		}
		if err := checkText(field+".content", m.Content); err != nil {
			return err
		}
		if m.Role != RoleSystem && strings.TrimSpace(m.Content) != "" {
			turns++
		}
	}
	if turns == 0 {
		return badOption("messages", "nothing is asked: give at least one user message with text")
	}
	return nil
}

func checkTexts(req Request) *BackendError {
	type text struct{ field, value string }
	texts := []text{
		{"model", req.Model}, {"dir", req.Dir}, {"session", req.Session}, {"schema", string(req.Schema)},
		{"options.effort", req.Options.Effort},
	}
	for i, tool := range req.Options.AllowedTools {
		texts = append(texts, text{fmt.Sprintf("options.allowed_tools[%d]", i), tool})
	}
	for i, tool := range req.Options.DisallowedTools {
		texts = append(texts, text{fmt.Sprintf("options.disallowed_tools[%d]", i), tool})
	}
	for _, t := range texts {
		if err := checkText(t.field, t.value); err != nil {
			return err
		}
	}
	return nil
}

// checkText refuses what cannot travel unchanged: programs take no NUL, and
// the CLIs replace invalid UTF-8 without a word.
func checkText(field, text string) *BackendError {
	if i := strings.IndexByte(text, 0); i >= 0 {
		return badRequest(field, "NUL byte at offset %d: remove it", i)
	}
	if utf8.ValidString(text) {
		return nil
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			return badRequest(field, "invalid UTF-8 (byte 0x%02x) at offset %d: convert the text first", text[i], i)
		}
		i += size
	}
	return nil
}

func checkOptions(req Request) *BackendError {
	o := req.Options
	switch {
	case req.Access < AccessNone || req.Access > AccessFull:
		return badOption("access", "%d is none of none, read, write, full", int(req.Access))
	case o.MaxTurns < 0:
		return badOption("options.max_turns", "%d is negative: use 0 for no bound", o.MaxTurns)
	case o.MaxBudgetUSD < 0 || math.IsNaN(o.MaxBudgetUSD) || math.IsInf(o.MaxBudgetUSD, 0):
		return badOption("options.max_budget_usd", "%v is no amount of dollars: use 0 for no bound", o.MaxBudgetUSD)
	case slices.Contains(o.AllowedTools, ""):
		return badOption("options.allowed_tools", "holds an empty name")
	case slices.Contains(o.DisallowedTools, ""):
		return badOption("options.disallowed_tools", "holds an empty name")
	case len(req.Schema) > 0 && !json.Valid(req.Schema):
		return badOption("schema", "is no valid JSON")
	}
	return nil
}

func badRequest(field, format string, args ...any) *BackendError {
	return mistake(ReasonBadRequest, field, format, args...)
}

func badOption(field, format string, args ...any) *BackendError {
	return mistake(ReasonBadOption, field, format, args...)
}

func unsupported(field, format string, args ...any) *BackendError {
	return mistake(ReasonUnsupported, field, format, args...)
}

func mistake(reason Reason, field, format string, args ...any) *BackendError {
	return &BackendError{Reason: reason, Option: field, Message: fmt.Sprintf(format, args...), ExitCode: -1}
}
