package failover_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
)

// Programs outside this repository compile against these names and types.
var (
	_ time.Duration = clichain.DefaultTimeout

	_ = clichain.CliSpec{Name: "", Binary: "", ProviderSlug: "", DefaultModel: "", PromptStyle: clichain.PromptStyle(""), SystemFlag: ""}

	_ func(clichain.CliSpec) error                                    = clichain.CliSpec.Validate
	_ func(string) clichain.Request                                   = clichain.Prompt
	_ func(clichain.CliSpec, *clichain.Config) *clichain.Provider     = clichain.NewProvider
	_ func(*clichain.Provider, context.Context) error                 = (*clichain.Provider).Available
	_ func([]clichain.CliSpec, *clichain.ChainConfig) *clichain.Chain = clichain.NewChain
	_ func([]clichain.Backend, *clichain.ChainConfig) *clichain.Chain = clichain.ChainOf
	_ func() bool                                                     = clichain.Suppressed
	_ func(string) (string, bool)                                     = clichain.SuppressedBy
	_ func() []clichain.CliSpec                                       = specs.All
	_ func(string) (clichain.CliSpec, bool)                           = specs.ByName
	_ func(io.Reader) ([]clichain.CliSpec, error)                     = specs.Load
	_                                                                 = []func() clichain.CliSpec{specs.Claude, specs.Gemini, specs.Cursor, specs.OpenCode, specs.Codex}

	_ = []clichain.Role{clichain.RoleSystem, clichain.RoleUser, clichain.RoleAssistant}
	_ = []clichain.Access{clichain.AccessNone, clichain.AccessRead, clichain.AccessWrite, clichain.AccessFull}
	_ = clichain.Request{
		Messages: []clichain.Message{{Role: clichain.RoleUser, Content: ""}}, Model: "", Access: clichain.AccessNone, Dir: "", Session: "",
		Schema: json.RawMessage(nil), Options: clichain.Options{MaxTurns: 0, MaxBudgetUSD: 0, AllowedTools: nil}, Metadata: map[string]string{},
	}
	_ = clichain.Response{
		Text: "", Backend: "", Provider: "", Model: "", Session: "", Usage: clichain.Usage{CostUSD: (*float64)(nil)},
		Duration: time.Duration(0), Attempts: []clichain.Attempt{}, Warnings: []string{},
	}
	_ = clichain.Attempt{
		Backend: "", Reason: clichain.Reason(""), Skipped: false, Duration: time.Duration(0), Usage: clichain.Usage{}, Err: error(nil),
	}
	_ = clichain.BackendError{
		Backend: "", Reason: clichain.Reason(""), ExitCode: 0, Stderr: "", RetryAfter: time.Time{}, Hint: "", Err: error(nil),
	}
	_ = clichain.ChainError{Attempts: []clichain.Attempt{}}
	_ = clichain.ChainConfig{Config: clichain.Config{Binary: "", Timeout: time.Duration(0)}, Budget: time.Duration(0)}

	_ = []error{
		clichain.ErrSuppressed, clichain.ErrNotInstalled, clichain.ErrUnauthenticated, clichain.ErrRateLimited, clichain.ErrTimeout,
		&clichain.BackendError{}, &clichain.ChainError{},
	}
	_ interface{ Unwrap() []error } = &clichain.ChainError{}

	_ clichain.Backend = (*clichain.Provider)(nil)
	_ clichain.Backend = (*clichain.Chain)(nil)
	_ clichain.Backend = backendOfTheContract(nil)
)

// backendOfTheContract has exactly the methods of a Backend.
type backendOfTheContract interface {
	Name() string
	Complete(ctx context.Context, req clichain.Request) (*clichain.Response, error)
	Stream(ctx context.Context, req clichain.Request) iter.Seq2[clichain.Event, error]
}
