package param

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clispec"
)

func TestFlagOf(t *testing.T) {
	for _, field := range clispec.OptionFields {
		require.True(t, strings.HasPrefix(FlagOf(field), "--"), field)
	}
	for field, want := range map[string]string{
		"options.add_dirs[2]": "--add-dir", "options.allowed_tools[0]": "--allow-tool", "config.billing": "--billing",
		"options.extra.claude[1]": "--extra claude", "env.PATH": "--env PATH", "messages[0].content": "PROMPT",
		"options.system_mode": "--system-mode", "schema": "--schema", "config.slots": "config.slots", "spec": "--spec", "": "",
	} {
		require.Equal(t, want, FlagOf(field), field)
	}
}

// If a command does not have a flag of the table, the table must have the reason.
func TestTableReasons(t *testing.T) {
	for _, command := range Commands {
		flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
		Add(flags, command, &Values{})
		for _, f := range Table {
			reason, without := f.Without[command]
			require.Equal(t, !without, flags.Lookup(f.Name) != nil, "%s --%s", command, f.Name)
			require.False(t, without && reason == "", "%s has no --%s, and the table no reason", command, f.Name)
		}
	}
	for _, f := range Table {
		require.NotEmpty(t, f.Help, f.Name)
		for _, column := range []map[string]string{f.Without, f.HelpOf} {
			for command := range column {
				require.Contains(t, Commands, command, f.Name)
			}
		}
		require.NotContains(t, f.Without, Ask, "%s: ask has every flag", f.Name)
		require.NotContains(t, f.Without, Build, "%s: build has the flags of ask", f.Name)
	}
}

// Every field of a request must have a flag or a reason in this test.
func TestEveryRequestFieldHasAFlag(t *testing.T) {
	reasons := map[string]string{
		"messages": "the prompt, --system and --system-file",
		"options":  "each of its fields has a flag",
		"threads":  "they belong to programs that hold a conversation",
		"metadata": "it belongs to programs, which get it back with the response",
	}
	checked := 0
	for _, of := range []reflect.Type{reflect.TypeFor[clichain.Request](), reflect.TypeFor[clichain.Options]()} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if reasons[name] != "" {
				delete(reasons, name)
				continue
			}
			checked++
			require.Truef(t, strings.HasPrefix(FlagOf(name), "--"), "%s.%s has neither a flag nor a reason", of, of.Field(i).Name)
		}
	}
	require.Greater(t, checked, 20)
	require.Empty(t, reasons, "of fields that there are")
}

// Each flag must set a field that no other flag sets.
func TestEachFlagSetsAValue(t *testing.T) {
	texts := map[string]string{
		"access": "read", "timeout": "1m", "idle-timeout": "1m", "budget": "1m", "max-turns": "1", "max-budget-usd": "1",
		"env": "A=1", "billing": "any", "sandbox": "on", "confine": "off", "reserve": "0.3", "binary": "a=b", "account": "a=b", "extra": "a=b",
	}
	set := map[string]string{}
	for _, f := range Table {
		var v Values
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		Pick(flags, &v, f.Name)
		flag := flags.Lookup(f.Name)
		text := flag.NoOptDefVal
		if text == "" {
			if text = texts[f.Name]; text == "" {
				text = "x"
			}
		}
		require.NoError(t, flags.Set(f.Name, text), f.Name)
		changed := changedFields(reflect.ValueOf(v), "")
		require.NotEmpty(t, changed, f.Name)
		require.Empty(t, set[changed[0]], "%s and %s set the same", f.Name, set[changed[0]])
		set[changed[0]] = f.Name
	}
}

// changedFields returns the paths of all fields that are not zero.
func changedFields(v reflect.Value, path string) (paths []string) {
	for i := range v.NumField() {
		field, name := v.Field(i), path+"."+v.Type().Field(i).Name
		switch {
		case !v.Type().Field(i).IsExported() || field.IsZero():
		case field.Kind() == reflect.Struct:
			paths = append(paths, changedFields(field, name)...)
		default:
			paths = append(paths, name)
		}
	}
	return paths
}
