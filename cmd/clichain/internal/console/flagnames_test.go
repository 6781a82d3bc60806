package console

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/permit"
)

// fieldTypes maps the first part of a field name in an Advice to the type of the field.
var fieldTypes = map[string]reflect.Type{
	"Config": reflect.TypeFor[clichain.ChainConfig](), "Permissions": reflect.TypeFor[permit.Permissions](),
}

// requireGoField checks that an Advice names an existing Go field.
func requireGoField(t *testing.T, a call.Advice) {
	t.Helper()
	in := reflect.TypeFor[clichain.Request]()
	path := regexp.MustCompile(`(?:Config\.|Permissions\.|Options\.|\b(?:Model|Session|Dir|Access)\b)[\w.]*`).FindString(a.String())
	require.NotEmpty(t, path, "%v", a)
	names := strings.Split(path, ".")
	if of := fieldTypes[names[0]]; of != nil {
		in, names = of, names[1:]
	}
	for _, name := range names {
		f, found := in.FieldByName(name)
		require.True(t, found, "%s has no field %s: %v", in, name, a)
		if in = f.Type; in.Kind() == reflect.Pointer {
			in = in.Elem()
		}
	}
}

// libraryAdvice returns every Advice in the sources of the library.
func libraryAdvice(t *testing.T) (list []call.Advice) {
	t.Helper()
	literal := regexp.MustCompile(`Action: call\.Action(\w+),\s+Field: "([a-z_.]+)"( \+ by)?`)
	all := regexp.MustCompile(`\bAction:`)
	for _, pattern := range []string{"*.go", "*/*.go", "internal/*/*.go"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			found := literal.FindAllStringSubmatch(string(text), -1)
			require.Len(t, found, len(all.FindAllString(string(text), -1)), "%s: an advice is a literal with its field", file)
			for _, m := range found {
				fields := []string{m[2]}
				if m[3] != "" { // from permit, which names each field of Permissions
					fields = nil
					for f := range reflect.TypeFor[permit.Permissions]().Fields() {
						name := regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(f.Name, "${1}_$2")
						fields = append(fields, m[2]+strings.ToLower(name))
					}
				}
				for _, field := range fields {
					list = append(list, call.Advice{Action: call.Action(strings.ToLower(m[1])), Field: field})
				}
			}
		}
	}
	return list
}

// Every Advice of the library must name an existing Go field, and its text for the command must name existing flags.
func TestAdviceInFlags(t *testing.T) {
	texts := map[call.Advice]string{}
	for a, text := range flagAdvice {
		a.Value = ""
		texts[a] = text
	}
	flag := regexp.MustCompile(`--[a-z][a-z-]*`)
	known := map[string]bool{"--permit": true, "--max-access": true} // flags of worker
	ask := pflag.NewFlagSet("ask", pflag.ContinueOnError)
	param.Add(ask, "ask", new(param.Values))
	ask.VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	used := map[call.Advice]bool{}
	for _, a := range libraryAdvice(t) {
		requireGoField(t, a)
		text, found := texts[a]
		require.True(t, found, "%v", a)
		used[a] = true
		for _, name := range flag.FindAllString(text, -1) {
			require.True(t, known[name], "%v: there is no flag %s", a, name)
		}
	}
	require.Len(t, used, len(texts), "an advice that nothing gives has no text")
	for a, want := range map[call.Advice]string{
		{Action: call.ActionRaise, Field: "access", Value: "read"}:                "use --access read or more",
		{Action: call.ActionSet, Field: "config.sandbox", Value: "off"}:           "use --sandbox off to try all the same",
		{Action: call.ActionTrust, Field: "config.trust_dir", Value: ".mcp.json"}: "read .mcp.json, and use --trust-dir if you trust it",
		{Action: call.ActionPass, Field: "config.pass_env", Value: "ACME_KEY"}:    "set ACME_KEY and use --pass-env ACME_KEY",
		{Action: call.ActionSet, Field: "config.unknown"}:                         "set Config.Unknown",
		{Action: call.ActionUnset, Field: "config.refuse_nested"}:                 "",
	} {
		require.Equal(t, want, AdviceText(a))
	}
}

// Hints of the library must name neither flags nor Go fields, except in an Advice.
func TestLibraryNamesNoFlags(t *testing.T) {
	inGo := regexp.MustCompile(`\b(Config|Options|Request|ChainConfig)\.[A-Z]|\bAccess(None|Read|Write|Full)\b|\bset Dir\b|SandboxOff`)
	inShell := regexp.MustCompile(`(?:^|[ (])--(?:trust-dir|pass-env|permit|sandbox|billing|access|mcp-config|model|session|dir)\b`)
	ofPrograms := []string{"Config.Name", "Request.Schema"} // fields that only a Go program can set
	literal := regexp.MustCompile("`[^`\n]*`|\"(?:[^\"\\\\\n]|\\\\.)*\"")
	checked := 0
	for _, pattern := range []string{"*.go", "internal/*/*.go", "call/*.go", "permit/*.go", "doctor/*.go"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, said := range literal.FindAllString(string(text), -1) {
				ours := slices.ContainsFunc(ofPrograms, func(name string) bool { return strings.Contains(said, name) })
				if !strings.Contains(said, " ") || ours {
					continue
				}
				checked++
				require.NotRegexp(t, inGo, said, "%s", file)
				require.NotRegexp(t, inShell, said, "%s", file)
			}
		}
	}
	require.Greater(t, checked, 500)
}

func TestWithFlags(t *testing.T) {
	be := &clichain.BackendError{
		Backend: "x", Reason: clichain.ReasonBadOption, Option: "options.images[0]", Message: "too many", Hint: "wait",
		Advice: []call.Advice{{Action: call.ActionUnset, Field: "dir"}},
	}
	chain := &clichain.ChainError{Cause: be, Attempts: []clichain.Attempt{{Backend: "x", Reason: be.Reason, Err: be}}}
	require.Equal(t, "clichain: x: bad_option (--image): too many [wait, or leave out --dir]\n"+
		"  x  bad_option (--image)  too many [wait, or leave out --dir]", WithFlags(chain).Error())
	require.Equal(t, "x: bad_option (options.images[0]): too many [wait, or leave Dir empty]", be.Error(), "it is not changed")
	require.NoError(t, WithFlags(nil))
}
