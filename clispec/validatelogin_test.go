package clispec_test

import (
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/stretchr/testify/require"
)

// Every mistake about a login is told with its path.
func TestValidateLogin(t *testing.T) {
	file := func(f clispec.FileFact) clispec.LoginRules {
		return clispec.LoginRules{Ways: []clispec.LoginWay{{Files: []clispec.FileFact{f}}}}
	}
	sign := func(s clispec.StatusSign) clispec.LoginRules {
		return clispec.LoginRules{Status: clispec.StatusRule{Args: []string{"status"}, Signs: []clispec.StatusSign{s}}}
	}
	for name, test := range map[string]struct {
		rules clispec.LoginRules
		path  string
	}{
		"a way that always holds":    {clispec.LoginRules{Ways: []clispec.LoginWay{{Billing: call.BillingAPIKey}}}, "login.ways[0]"},
		"no variable":                {clispec.LoginRules{Ways: []clispec.LoginWay{{Env: []string{"A-B"}}}}, "login.ways[0].env[0]"},
		"no other variable":          {clispec.LoginRules{Ways: []clispec.LoginWay{{Env: []string{"A"}, With: []string{"*"}}}}, "login.ways[0].with[0]"},
		"no system":                  {clispec.LoginRules{Ways: []clispec.LoginWay{{OS: []string{"macos"}}}}, "login.ways[0].os[0]"},
		"no payer":                   {clispec.LoginRules{Ways: []clispec.LoginWay{{Env: []string{"A"}, Billing: "plan"}}}, "login.ways[0].billing"},
		"no path":                    {file(clispec.FileFact{}), "login.ways[0].files[0].path"},
		"a path from nowhere":        {file(clispec.FileFact{Path: "login.json"}), "login.ways[0].files[0].path"},
		"a variable that has no end": {file(clispec.FileFact{Path: "${A/login.json"}), "login.ways[0].files[0].path"},
		"no pattern":                 {file(clispec.FileFact{Path: "~/x", Pattern: "("}), "login.ways[0].files[0].pattern"},
		"no pattern for names":       {file(clispec.FileFact{Path: "~/x", Keys: "("}), "login.ways[0].files[0].keys"},
		"no pattern for a value":     {file(clispec.FileFact{Path: "~/x", JSON: map[string]string{"a": "("}}), "login.ways[0].files[0].json.a"},
		"no path of a value":         {file(clispec.FileFact{Path: "~/x", JSON: map[string]string{"": "a"}}), "login.ways[0].files[0].json"},
		"no path of the end":         {file(clispec.FileFact{Path: "~/x", Expires: "@.a"}), "login.ways[0].files[0].expires"},
		"no path of the renewal":     {file(clispec.FileFact{Path: "~/x", Refresh: "@.a"}), "login.ways[0].files[0].refresh"},
		"signs without a command":    {clispec.LoginRules{Status: clispec.StatusRule{Signs: []clispec.StatusSign{{Login: clispec.LoginAuthenticated}}}}, "login.status.args"},
		"no exit status":             {sign(clispec.StatusSign{Exit: 300, Login: clispec.LoginAuthenticated}), "login.status.signs[0].exit"},
		"no meaning":                 {sign(clispec.StatusSign{}), "login.status.signs[0].login"},
		"an odd meaning":             {sign(clispec.StatusSign{Login: clispec.LoginNotFound}), "login.status.signs[0].login"},
		"no key source":              {clispec.LoginRules{KeySources: map[string]call.Billing{"(": call.BillingAPIKey}}, "login.key_sources"},
		"a key source for nobody":    {clispec.LoginRules{KeySources: map[string]call.Billing{"none": ""}}, "login.key_sources.none"},
	} {
		t.Run(name, func(t *testing.T) {
			err := clispec.Spec{Name: "x", Binary: "x", Login: test.rules}.Validate()
			var mistake *clispec.Error
			require.ErrorAs(t, err, &mistake)
			require.Equal(t, test.path, mistake.Path)
		})
	}
	err := clispec.Spec{Name: "x", Binary: "x", Trust: []clispec.FileFact{{Path: "x"}}}.Validate()
	require.ErrorContains(t, err, "trust[0].path")
	for _, path := range []string{"~/x", "./x", "/x", "${A}", "${A:-~/b}/x", "${A:-/b}/x/y"} {
		require.NoError(t, clispec.Spec{Name: "x", Binary: "x", Login: file(clispec.FileFact{Path: path})}.Validate(), path)
	}
}
