package clispec_test

import (
	"testing"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/stretchr/testify/require"
)

// Validate reports each error in a login rule with its path.
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
		"way without a condition":             {clispec.LoginRules{Ways: []clispec.LoginWay{{Billing: call.BillingAPIKey}}}, "login.ways[0]"},
		"invalid variable":                    {clispec.LoginRules{Ways: []clispec.LoginWay{{Env: []string{"A-B"}}}}, "login.ways[0].env[0]"},
		"invalid additional variable":         {clispec.LoginRules{Ways: []clispec.LoginWay{{Env: []string{"A"}, With: []string{"*"}}}}, "login.ways[0].with[0]"},
		"unknown operating system":            {clispec.LoginRules{Ways: []clispec.LoginWay{{OS: []string{"macos"}}}}, "login.ways[0].os[0]"},
		"unknown payer":                       {clispec.LoginRules{Ways: []clispec.LoginWay{{Env: []string{"A"}, Billing: "plan"}}}, "login.ways[0].billing"},
		"no path":                             {file(clispec.FileFact{}), "login.ways[0].files[0].path"},
		"relative path":                       {file(clispec.FileFact{Path: "login.json"}), "login.ways[0].files[0].path"},
		"unterminated variable":               {file(clispec.FileFact{Path: "${A/login.json"}), "login.ways[0].files[0].path"},
		"invalid pattern":                     {file(clispec.FileFact{Path: "~/x", Pattern: "("}), "login.ways[0].files[0].pattern"},
		"invalid pattern for keys":            {file(clispec.FileFact{Path: "~/x", Keys: "("}), "login.ways[0].files[0].keys"},
		"invalid pattern for a value":         {file(clispec.FileFact{Path: "~/x", JSON: map[string]string{"a": "("}}), "login.ways[0].files[0].json.a"},
		"empty path of a value":               {file(clispec.FileFact{Path: "~/x", JSON: map[string]string{"": "a"}}), "login.ways[0].files[0].json"},
		"invalid path of the expiration time": {file(clispec.FileFact{Path: "~/x", Expires: "@.a"}), "login.ways[0].files[0].expires"},
		"invalid path of the refresh token":   {file(clispec.FileFact{Path: "~/x", Refresh: "@.a"}), "login.ways[0].files[0].refresh"},
		"signs without a command":             {clispec.LoginRules{Status: clispec.StatusRule{Signs: []clispec.StatusSign{{Login: clispec.LoginAuthenticated}}}}, "login.status.args"},
		"exit code out of range":              {sign(clispec.StatusSign{Exit: 300, Login: clispec.LoginAuthenticated}), "login.status.signs[0].exit"},
		"sign without a login state":          {sign(clispec.StatusSign{}), "login.status.signs[0].login"},
		"sign with an unsuitable login state": {sign(clispec.StatusSign{Login: clispec.LoginNotFound}), "login.status.signs[0].login"},
		"invalid pattern of a key source":     {clispec.LoginRules{KeySources: map[string]call.Billing{"(": call.BillingAPIKey}}, "login.key_sources"},
		"key source without a payer":          {clispec.LoginRules{KeySources: map[string]call.Billing{"none": ""}}, "login.key_sources.none"},
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
