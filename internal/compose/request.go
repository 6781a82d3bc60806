package compose

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/session"
)

// Check returns an error for a request that is invalid for every backend. The error names the field, the value and the
// remedy.
func Check(req call.Request) *call.Error {
	return cmp.Or(checkMessages(req), checkTexts(req), checkOptions(req), session.CheckThreads(req),
		checkLists(req.Options), checkEnv(req.Env))
}

func checkMessages(req call.Request) *call.Error {
	asked := false
	for i, m := range req.Messages {
		if !slices.Contains([]call.Role{call.RoleSystem, call.RoleUser, call.RoleAssistant}, m.Role) {
			return call.Errorf(call.ReasonBadRequest, fmt.Sprintf("messages[%d].role", i),
				"%q is not one of system, user, assistant", m.Role)
		}
		if problem := plaintext.Problem(m.Content); problem != "" {
			return call.Errorf(call.ReasonBadRequest, fmt.Sprintf("messages[%d].content", i), "%s", problem)
		}
		asked = asked || m.Role != call.RoleSystem && strings.TrimSpace(m.Content) != ""
	}
	if !asked {
		return call.Errorf(call.ReasonBadOption, "messages", "no message has text: add a user message with text")
	}
	return nil
}

// checkTexts returns an error for text that an argument or JSON cannot carry unchanged.
func checkTexts(req call.Request) *call.Error {
	for _, text := range [...][2]string{
		{"model", req.Model}, {"dir", req.Dir}, {"session", req.Session}, {"schema", string(req.Schema)},
		{"options.effort", req.Options.Effort}, {"options.permission_mode", req.Options.PermissionMode},
		{"options.fallback_model", req.Options.FallbackModel}, {"options.agents", string(req.Options.Agents)},
		{"options.append_system", req.Options.AppendSystem}, {"options.session_id", req.Options.SessionID},
	} {
		if problem := plaintext.Problem(text[1]); problem != "" {
			return call.Errorf(call.ReasonBadRequest, text[0], "%s", problem)
		}
	}
	for list := range listsOf(req.Options) {
		for i, element := range list.values {
			if problem := plaintext.Problem(element); problem != "" {
				return call.Errorf(call.ReasonBadRequest, list.element(i), "%s", problem)
			}
		}
	}
	return nil
}

var raiseAccess = call.Advice{Action: call.ActionRaise, Field: "access", Value: call.AccessRead.String()}

func advised(err *call.Error, advice ...call.Advice) *call.Error {
	err.Advice = advice
	return err
}

func checkOptions(req call.Request) *call.Error {
	o := req.Options
	switch {
	case req.Access < call.AccessNone || req.Access > call.AccessFull:
		return call.Errorf(call.ReasonBadOption, "access", "%d is not one of none, read, write, full", int(req.Access))
	case req.Access == call.AccessNone && req.Dir != "":
		return advised(call.Errorf(call.ReasonBadOption, "dir", "a call without access cannot work in %q", req.Dir),
			raiseAccess, call.Advice{Action: call.ActionUnset, Field: "dir"})
	case !slices.Contains([]call.Billing{"", call.BillingSubscription, call.BillingAPIKey}, req.Billing):
		return call.Errorf(call.ReasonBadOption, "billing", "%q is not one of subscription, api_key", req.Billing)
	case o.MaxTurns < 0:
		return call.Errorf(call.ReasonBadOption, "options.max_turns", "%d is negative: use 0 for no limit", o.MaxTurns)
	case o.MaxBudgetUSD < 0 || math.IsNaN(o.MaxBudgetUSD) || math.IsInf(o.MaxBudgetUSD, 0):
		return call.Errorf(call.ReasonBadOption, "options.max_budget_usd",
			"%v is not an amount of dollars: use 0 for no limit", o.MaxBudgetUSD)
	case !slices.Contains([]call.SystemMode{"", call.SystemAppend, call.SystemReplace}, o.SystemMode):
		return call.Errorf(call.ReasonBadOption, "options.system_mode", "%q is not one of append, replace", o.SystemMode)
	case !wordShape().MatchString(o.PermissionMode):
		return call.Errorf(call.ReasonBadOption, "options.permission_mode",
			`%q is not a permission mode: use one word, such as "plan"`, o.PermissionMode)
	case !wordShape().MatchString(o.Effort):
		return call.Errorf(call.ReasonBadOption, "options.effort",
			`%q is not an effort: use one word, such as "high"`, o.Effort)
	case o.Continue && req.Access == call.AccessNone:
		return advised(call.Errorf(call.ReasonBadOption, "options.continue",
			"a call without access has no working directory to continue in"),
			raiseAccess, call.Advice{Action: call.ActionSet, Field: "session"})
	case o.Continue && req.Session != "", o.SessionID != "" && (o.Continue || req.Session != ""):
		return call.Errorf(call.ReasonBadOption, "session", "only one of session, continue and session_id can be set")
	case len(o.Agents) > 0 && !isObject(o.Agents):
		return call.Errorf(call.ReasonBadOption, "options.agents", "is not a JSON object")
	case len(req.Schema) > 0 && !json.Valid(req.Schema):
		return call.Errorf(call.ReasonBadOption, "schema", "is not valid JSON")
	}
	return nil
}

// checkLists returns an error for an empty element of a list, and for an MCP configuration that is neither an object
// nor a string.
func checkLists(o call.Options) *call.Error {
	for list := range listsOf(o) {
		if i := slices.Index(list.values, ""); i >= 0 && !list.raw {
			return call.Errorf(call.ReasonBadOption, list.element(i), "is empty: leave it out")
		}
	}
	for i, element := range o.MCPConfig {
		if !isObject(element) && json.Unmarshal(element, new(string)) != nil {
			return call.Errorf(call.ReasonBadOption, fmt.Sprintf("options.mcp_config[%d]", i),
				"must be a JSON object, or a JSON string with a file name")
		}
	}
	return nil
}

// optionList is an option with several values.
type optionList struct {
	field  string
	values []string
	raw    bool // empty values are allowed
}

func (l optionList) element(i int) string { return fmt.Sprintf("%s[%d]", l.field, i) }

// listsOf yields the options with several values. It builds no slice, because most calls set none of them.
func listsOf(o call.Options) iter.Seq[optionList] {
	return func(yield func(optionList) bool) {
		for _, list := range [...]optionList{
			{"options.allowed_tools", o.AllowedTools, false}, {"options.disallowed_tools", o.DisallowedTools, false},
			{"options.add_dirs", o.AddDirs, false}, {"options.images", o.Images, false},
			{"options.mcp_config", stringsOf(o.MCPConfig), false},
		} {
			if !yield(list) {
				return
			}
		}
		for _, name := range namesOf(o.Extra) {
			if !yield(optionList{"options.extra." + plaintext.OneLine(name), o.Extra[name], true}) {
				return
			}
		}
	}
}

func stringsOf(raw []json.RawMessage) (texts []string) {
	for _, element := range raw {
		texts = append(texts, string(element))
	}
	return texts
}

// wordShape matches a single word that only the CLI interprets, and the empty string.
var wordShape = pattern.Of(`^(?:[A-Za-z0-9][A-Za-z0-9_.-]*)?$`)

func isObject(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] == '{' && json.Valid(text)
}
