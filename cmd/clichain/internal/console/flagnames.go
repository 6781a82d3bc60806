package console

import (
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
)

// flagAdvice maps the advice of the library to a text with flags. The key has the action, the field and, for some
// texts, the value. An empty text is for advice that only a Go program can follow.
var flagAdvice = map[call.Advice]string{
	{Action: call.ActionTrust, Field: "config.trust_dir"}:           "read {value}, and use --trust-dir if you trust it",
	{Action: call.ActionPass, Field: "config.pass_env"}:             "set {value} and use --pass-env {value}",
	{Action: call.ActionAdd, Field: "config.pass_env"}:              "use --pass-env {value}",
	{Action: call.ActionAdd, Field: "config.request_env"}:           "let the worker --permit env={value}",
	{Action: call.ActionAdd, Field: "config.env"}:                   "",
	{Action: call.ActionSet, Field: "config.sandbox", Value: "off"}: "use --sandbox off to try all the same",
	{Action: call.ActionUnset, Field: "config.billing"}:             "use --billing any",
	{Action: call.ActionUnset, Field: "config.refuse_nested"}:       "",
	{Action: call.ActionUnset, Field: "config.confine"}:             "use --confine auto",
	{Action: call.ActionSet, Field: "config.confine"}:               "use --confine {value}",
	{Action: call.ActionAdd, Field: "config.read_paths"}:            "use --read-path {value}",
	{Action: call.ActionAdd, Field: "config.write_paths"}:           "use --write-path {value}",
	{Action: call.ActionSet, Field: "config.container.runtime"}:     "",
	{Action: call.ActionSet, Field: "options.mcp_config"}:           "use --mcp-config",
	{Action: call.ActionSet, Field: "model"}:                        "use --model",
	{Action: call.ActionSet, Field: "session"}:                      "use --session",
	{Action: call.ActionSet, Field: "dir"}:                          "use --dir",
	{Action: call.ActionUnset, Field: "dir"}:                        "leave out --dir",
	{Action: call.ActionRaise, Field: "access"}:                     "use --access {value} or more",
	{Action: call.ActionSet, Field: "access", Value: "none"}:        "leave out --access",
	{Action: call.ActionPermit, Field: "permissions.access"}:        allowedBy("batch --access, worker --max-access"),
	{Action: call.ActionPermit, Field: "permissions.billing"}:       allowedBy("--billing"),
	{Action: call.ActionPermit, Field: "permissions.max_bytes"}:     allowedBy("--permit bytes=N"),
	{Action: call.ActionPermit, Field: "permissions.dirs"}:          allowedBy("--permit dir=PATH"),
	{Action: call.ActionPermit, Field: "permissions.extra"}:         allowedBy("--permit extra=BACKEND=ARGUMENT"),
	{Action: call.ActionPermit, Field: "permissions.env"}:           allowedBy("--permit env=NAME"),
	{Action: call.ActionPermit, Field: "permissions.models"}:        allowedBy("--permit model=NAME"),
	{Action: call.ActionPermit, Field: "permissions.tools"}:         allowedBy("--permit tool=NAME"),
	{Action: call.ActionPermit, Field: "permissions.modes"}:         allowedBy("--permit mode=NAME"),
	{Action: call.ActionPermit, Field: "permissions.mcp"}:           allowedBy("--permit mcp"),
	{Action: call.ActionPermit, Field: "permissions.agents"}:        allowedBy("--permit agents"),
	{Action: call.ActionPermit, Field: "permissions.sessions"}:      allowedBy("--permit session"),
}

func allowedBy(flag string) string { return "the operator can allow it with " + flag }

// AdviceText returns an advice as a text with flags.
func AdviceText(a call.Advice) string {
	text, found := flagAdvice[a]
	if !found {
		text, found = flagAdvice[call.Advice{Action: a.Action, Field: a.Field}]
	}
	if !found { // advice of a custom backend, or of a newer library
		return a.String()
	}
	return strings.ReplaceAll(text, "{value}", a.Value)
}

// WithFlags returns err with the names of flags in place of the names of fields.
func WithFlags(err error) error {
	switch err := err.(type) {
	case *clichain.BackendError:
		be := *err
		be.Option, be.Hint, be.Advice = param.FlagOf(be.Option), call.JoinHint(be.Hint, be.Advice, AdviceText), nil
		return &be
	case *clichain.ChainError:
		chain := &clichain.ChainError{Cause: WithFlags(err.Cause), Note: err.Note}
		for _, a := range err.Attempts {
			a.Err = WithFlags(a.Err)
			chain.Attempts = append(chain.Attempts, a)
		}
		return chain
	}
	return err
}

// Skip is the reason why a backend is skipped, with the names of flags.
type Skip struct {
	Reason  clichain.Reason `json:"reason"`
	Message string          `json:"message"`
	Hint    string          `json:"hint,omitempty"`
}

// NewSkip makes the Skip of a failure.
func NewSkip(be *clichain.BackendError) *Skip {
	return &Skip{be.Reason, be.Detail(), call.JoinHint(be.Hint, be.Advice, AdviceText)}
}
