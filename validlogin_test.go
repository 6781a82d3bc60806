package clichain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// Every mistake about a login is told with its path.
func TestValidateLogin(t *testing.T) {
	file := func(f clichain.FileFact) clichain.LoginRules {
		return clichain.LoginRules{Ways: []clichain.LoginWay{{Files: []clichain.FileFact{f}}}}
	}
	sign := func(s clichain.StatusSign) clichain.LoginRules {
		return clichain.LoginRules{Status: clichain.StatusRule{Args: []string{"status"}, Signs: []clichain.StatusSign{s}}}
	}
	for name, test := range map[string]struct {
		rules clichain.LoginRules
		path  string
	}{
		"a way that always holds":    {clichain.LoginRules{Ways: []clichain.LoginWay{{Billing: clichain.BillingAPIKey}}}, "login.ways[0]"},
		"no variable":                {clichain.LoginRules{Ways: []clichain.LoginWay{{Env: []string{"A-B"}}}}, "login.ways[0].env[0]"},
		"no other variable":          {clichain.LoginRules{Ways: []clichain.LoginWay{{Env: []string{"A"}, With: []string{"*"}}}}, "login.ways[0].with[0]"},
		"no system":                  {clichain.LoginRules{Ways: []clichain.LoginWay{{OS: []string{"macos"}}}}, "login.ways[0].os[0]"},
		"no payer":                   {clichain.LoginRules{Ways: []clichain.LoginWay{{Env: []string{"A"}, Billing: "plan"}}}, "login.ways[0].billing"},
		"no path":                    {file(clichain.FileFact{}), "login.ways[0].files[0].path"},
		"a path from nowhere":        {file(clichain.FileFact{Path: "login.json"}), "login.ways[0].files[0].path"},
		"a variable that has no end": {file(clichain.FileFact{Path: "${A/login.json"}), "login.ways[0].files[0].path"},
		"no pattern":                 {file(clichain.FileFact{Path: "~/x", Pattern: "("}), "login.ways[0].files[0].pattern"},
		"no pattern for a value":     {file(clichain.FileFact{Path: "~/x", JSON: map[string]string{"a": "("}}), "login.ways[0].files[0].json.a"},
		"no path of a value":         {file(clichain.FileFact{Path: "~/x", JSON: map[string]string{"": "a"}}), "login.ways[0].files[0].json"},
		"no path of the end":         {file(clichain.FileFact{Path: "~/x", Expires: "@.a"}), "login.ways[0].files[0].expires"},
		"no path of the renewal":     {file(clichain.FileFact{Path: "~/x", Refresh: "@.a"}), "login.ways[0].files[0].refresh"},
		"signs without a command":    {clichain.LoginRules{Status: clichain.StatusRule{Signs: []clichain.StatusSign{{Login: clichain.LoginAuthenticated}}}}, "login.status.args"},
		"no exit status":             {sign(clichain.StatusSign{Exit: 300, Login: clichain.LoginAuthenticated}), "login.status.signs[0].exit"},
		"no meaning":                 {sign(clichain.StatusSign{}), "login.status.signs[0].login"},
		"an odd meaning":             {sign(clichain.StatusSign{Login: clichain.LoginNotFound}), "login.status.signs[0].login"},
		"no key source":              {clichain.LoginRules{KeySources: map[string]clichain.Billing{"(": clichain.BillingAPIKey}}, "login.key_sources"},
		"a key source for nobody":    {clichain.LoginRules{KeySources: map[string]clichain.Billing{"none": ""}}, "login.key_sources.none"},
	} {
		t.Run(name, func(t *testing.T) {
			err := clichain.CliSpec{Name: "x", Binary: "x", Login: test.rules}.Validate()
			var mistake *clichain.SpecError
			require.ErrorAs(t, err, &mistake)
			require.Equal(t, test.path, mistake.Path)
		})
	}
	err := clichain.CliSpec{Name: "x", Binary: "x", Trust: []clichain.FileFact{{Path: "x"}}}.Validate()
	require.ErrorContains(t, err, "trust[0].path")
	for _, path := range []string{"~/x", "./x", "/x", "${A}", "${A:-~/b}/x", "${A:-/b}/x/y"} {
		require.NoError(t, clichain.CliSpec{Name: "x", Binary: "x", Login: file(clichain.FileFact{Path: path})}.Validate(), path)
	}
}
