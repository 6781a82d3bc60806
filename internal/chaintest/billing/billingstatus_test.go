package billing_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/internal/testtime"
)

// asked is a CLI with a status command that reports the payer.
func asked() clichain.CliSpec {
	spec := lumen()
	spec.Args = []clispec.ArgRow{{Args: []string{"{prompt}"}}, {Args: []string{"-r"}, When: clispec.When{Access: []call.Access{call.AccessRead}}}}
	for _, path := range []string{"./settings", "~/settings"} {
		spec.Login.Ways = append(spec.Login.Ways, clispec.LoginWay{Files: []clispec.FileFact{{Path: path}}, Unsure: true})
	}
	spec.Login.Status = clispec.StatusRule{Args: []string{"status"}, Whole: true, Signs: []clispec.StatusSign{
		{Pattern: "the plan", Login: clispec.LoginAuthenticated, Billing: call.BillingSubscription},
		{Pattern: "the key", Login: clispec.LoginAuthenticated, Billing: call.BillingAPIKey},
		{Pattern: "some account", Login: clispec.LoginAuthenticated},
		{Exit: 1, Pattern: "nobody", Login: clispec.LoginInstalled},
	}}
	return spec
}

// tells returns a scenario with the outputs of the status command, in order, and an answer.
func tells(record string, statuses ...[]clitest.Step) clitest.Scenario {
	s := chaintest.Play(clitest.Step{Record: record}, chaintest.Stdout(`{"type":"init","id":"s"}`+"\n"), chaintest.Stdout(`{"type":"result","text":"hello"}`+"\n"))
	for _, steps := range statuses {
		s.Cases = append(s.Cases, clitest.Case{Args: []string{"status"}, Once: true, Steps: steps})
	}
	return s
}

func said(text string) []clitest.Step { return []clitest.Step{chaintest.Stdout(text + "\n")} }

// If variables and files do not determine the payer, the provider runs the CLI's status command.
func TestTheStatusCommandSettlesWhoPays(t *testing.T) {
	const plan, key = call.BillingSubscription, call.BillingAPIKey
	noWhole := asked()
	noWhole.Login.Status.Whole = false
	for name, test := range map[string]struct {
		spec   clichain.CliSpec
		files  []string
		status []clitest.Step
		policy call.Billing
		reason clichain.Reason // "": the plan, or the key, is allowed to pay and pays
	}{
		"the plan":                            {asked(), []string{"helper"}, said("the plan"), plan, ""},
		"the plan, in spite of a helper":      {asked(), []string{"helper", "plan"}, said("the plan"), plan, ""},
		"the key":                             {asked(), []string{"helper"}, said("the key"), key, ""},
		"the key, where the plan must":        {asked(), []string{"helper", "plan"}, said("the key"), plan, clichain.ReasonBilling},
		"the plan, where the key must":        {asked(), []string{"helper"}, said("the plan"), key, clichain.ReasonBilling},
		"who knows":                           {asked(), []string{"helper"}, said("some account"), plan, clichain.ReasonBilling},
		"nothing that can be read":            {asked(), []string{"helper"}, said("good morning"), plan, clichain.ReasonBilling},
		"it fails":                            {asked(), []string{"helper"}, []clitest.Step{chaintest.Stdout("the plan\n"), {Kill: "KILL"}}, plan, clichain.ReasonBilling},
		"nobody is logged in":                 {asked(), []string{"helper"}, []clitest.Step{chaintest.Stdout("nobody\n"), clitest.Exit(1)}, plan, clichain.ReasonUnauthenticated},
		"it does not know all ways":           {noWhole, []string{"helper"}, said("the plan"), plan, clichain.ReasonBilling},
		"it does not know the folder's":       {asked(), []string{"work/settings"}, said("the plan"), plan, clichain.ReasonBilling},
		"a file of the user's is no folder's": {asked(), []string{"settings"}, said("the plan"), plan, ""},
	} {
		t.Run(name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record")
			home, _ := chaintest.FreshMachine(t, tells(record, test.status))
			for _, file := range append(test.files, "work/there") {
				chaintest.Write(t, home, file, "")
			}
			t.Chdir(filepath.Join(home, "work"))
			p := clichain.NewProvider(test.spec, &clichain.Config{Billing: test.policy})
			req := clichain.Prompt("hi")
			req.Access = clichain.AccessRead
			resp, err := p.Complete(t.Context(), req)
			if test.reason != "" {
				chaintest.RequireReason(t, test.reason, err)
				require.NoFileExists(t, record, "it was started")
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.policy, resp.Billing)
		})
	}
}

// The status command runs once, and again after a relevant file has changed. Available never runs it.
func TestTheStatusCommandIsAskedOnce(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, tells(filepath.Join(t.TempDir(), "record"), said("the plan"), said("the key")))
	chaintest.Write(t, home, "helper", "")
	p := clichain.NewProvider(asked(), &clichain.Config{Billing: call.BillingSubscription})
	require.NoError(t, p.Available(t.Context()), "only the CLI can tell")
	for range 3 {
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		require.NoError(t, err)
	}
	chaintest.Write(t, home, "helper", "other words")
	require.Eventually(t, func() bool {
		_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
		return errors.Is(err, clichain.ErrBilling)
	}, time.Minute, 10*time.Millisecond, "a login is looked at once a second")
	chaintest.RequireReason(t, clichain.ReasonBilling, p.Available(t.Context()))
}

// Without a policy the status command does not run.
func TestTheStatusCommandIsNotForNothing(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, tells(filepath.Join(t.TempDir(), "record"), []clitest.Step{{Hang: true}}))
	chaintest.Write(t, home, "helper", "")
	_, err := clichain.NewProvider(asked(), nil).Complete(t.Context(), clichain.Prompt("hi"))
	require.NoError(t, err)
}

// A canceled call does not wait for the status command.
func TestTheStatusCommandEndsWithTheCall(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, tells(filepath.Join(t.TempDir(), "record"), []clitest.Step{{Hang: true}}))
	chaintest.Write(t, home, "helper", "")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := clichain.NewProvider(asked(), &clichain.Config{Billing: call.BillingSubscription}).Complete(ctx, clichain.Prompt("hi"))
	chaintest.RequireReason(t, clichain.ReasonTimeout, err)
	testtime.Within(t, start, 8*time.Second)
}

// The time of the status command counts towards the attempt, so that the error arrives in time even if a longer
// silence would end the call.
func TestTheStatusCommandIsPartOfTheTimeout(t *testing.T) {
	home, _ := chaintest.FreshMachine(t, tells(filepath.Join(t.TempDir(), "record"), []clitest.Step{{Hang: true}}))
	chaintest.Write(t, home, "helper", "")
	t.Chdir(home)
	p := clichain.NewProvider(asked(), &clichain.Config{Billing: call.BillingSubscription, Timeout: time.Second})
	start := time.Now()
	_, err := p.Complete(t.Context(), clichain.Prompt("hi"))
	chaintest.RequireReason(t, clichain.ReasonBilling, err)
	testtime.Within(t, start, 8*time.Second)
}
