package clispec_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/specs"
)

var update = flag.Bool("update", false, "rewrite the schema")

const schemaFile = "../docs/spec.schema.json"

// specSchema returns the schema of a spec file, which contains one spec, a list, or an object with that list.
func specSchema(t *testing.T) *jsonschema.Schema {
	g := newSchemaGen(t)
	one := g.of(reflect.TypeFor[clispec.Spec]())
	delete(g.defs, "EventKind") // each type of rule has its own kinds
	toSchema := &jsonschema.Schema{Type: "string", Description: "The location of this schema, for editors."}
	spec := g.defs["CliSpec"]
	spec.Properties["$schema"] = toSchema
	spec.PropertyOrder = append([]string{"$schema"}, spec.PropertyOrder...)
	spec.Required = []string{"name"} // an instance inherits the binary of its base
	spec.AnyOf = []*jsonschema.Schema{{Required: []string{"binary"}}, {Required: []string{"instance_of"}}}
	list := &jsonschema.Schema{Type: "array", Items: one}
	return &jsonschema.Schema{
		Schema:      "https://json-schema.org/draft/2020-12/schema",
		Title:       "clichain specs",
		Description: "A file for clichain --spec, CLICHAIN_SPECS and specs.Load, in JSON or YAML: one spec, a list of them, or such a list under \"specs\". Generated from the Go types by TestSchema.",
		If:          &jsonschema.Schema{Type: "array"},
		Then:        list,
		Else: &jsonschema.Schema{
			If: &jsonschema.Schema{Type: "object", Required: []string{"specs"}},
			Then: &jsonschema.Schema{
				Properties:           map[string]*jsonschema.Schema{"$schema": toSchema, "specs": list},
				AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
			},
			Else: one,
		},
		Defs: g.defs,
	}
}

func TestSchema(t *testing.T) {
	data, err := json.Marshal(specSchema(t))
	require.NoError(t, err)
	var want bytes.Buffer
	require.NoError(t, json.Indent(&want, data, "", "  "))
	text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(want.String()) + "\n"
	if *update {
		require.NoError(t, os.WriteFile(schemaFile, []byte(text), 0o644))
	}
	require.Equal(t, text, string(mustRead(t, schemaFile)), "run go test ./clispec -run Schema -update")
}

// resolved returns the schema that the repository contains.
func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal([]byte(string(mustRead(t, schemaFile))), &s))
	r, err := s.Resolve(nil)
	require.NoError(t, err)
	return r
}

func plain(t *testing.T, value any) (out any) {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

func TestSchemaAcceptsSpecs(t *testing.T) {
	schema := resolved(t)
	all := append(specs.Every(), sound())
	for _, spec := range all {
		require.NoError(t, schema.Validate(plain(t, spec)), spec.Name)
	}
	require.NoError(t, schema.Validate(plain(t, all)))
	require.NoError(t, schema.Validate(plain(t, map[string]any{"$schema": "x", "specs": all})))
	require.NoError(t, schema.Validate(map[string]any{"instance_of": "claude", "name": "work", "set_env": map[string]any{"A": "~/a"}}))
	_, page, _ := strings.Cut(string(mustRead(t, "../docs/how-to/write-a-spec.md")), "\n## A complete example\n")
	_, page, _ = strings.Cut(page, "```json\n")
	example, _, _ := strings.Cut(page, "\n```")
	require.NoError(t, schema.Validate(plain(t, json.RawMessage(example))))
}

func TestSchemaRejectsInvalidSpecs(t *testing.T) {
	schema := resolved(t)
	for _, test := range []struct{ name, part string }{
		{"unknown field", `"binry": "a"`},
		{"invalid variable name", `"set_env": {"A-B": "c"}`},
		{"invalid instance_of", `"instance_of": "My"`},
		{"unknown nested field", `"args": [{"args": ["a"], "when": {"acces": ["read"]}}]`},
		{"additional list of specs", `"specs": []`},
		{"name", `"name": "My"`},
		{"empty binary", `"binary": ""`},
		{"style", `"prompt_style": "dash"`},
		{"transport", `"transports": ["file"]`},
		{"access", `"args": [{"args": ["a"], "when": {"access": ["root"]}}]`},
		{"unknown field in a condition", `"args": [{"args": ["a"], "when": {"set": ["modle"]}}]`},
		{"row without arguments", `"args": [{}]`},
		{"unknown event kind", `"events": [{"match": {"a": "b"}, "kind": "done"}]`},
		{"unknown event field", `"events": [{"match": {"a": "b"}, "kind": "text", "set": {"txt": "a"}}]`},
		{"empty match", `"events": [{"match": {}, "kind": "text"}]`},
		{"unknown line kind", `"lines": [{"pattern": "a", "kind": "text"}]`},
		{"reason", `"lines": [{"pattern": "a", "reason": "oops"}]`},
		{"invalid exit code", `"exit_codes": {"x": "exit"}`},
		{"unknown reason of an exit code", `"exit_codes": {"7": "oops"}`},
		{"hint", `"hints": {"oops": "a"}`},
		{"rule without a variable", `"pass_env_if": [{"models": ["a/"]}]`},
		{"rule for an invalid variable name", `"pass_env_if": [{"pass": ["A-B"], "models": ["a/"]}]`},
		{"relative state", `"confine": {"state": [{"path": ".mine"}]}`},
		{"home directory as the state", `"confine": {"state": [{"path": "~"}]}`},
		{"state in the working directory", `"confine": {"state": [{"path": "./mine"}]}`},
		{"repeated level", `"confine": {"own": ["read", "read"]}`},
		{"relative path to read", `"confine": {"read": ["certs"]}`},
		{"linger", `"linger_ms": 60001`},
		{"type", `"sessions": {"dir_bound": "yes"}`},
	} {
		spec := map[string]any{"name": "mine", "binary": "mine"}
		require.NoError(t, schema.Validate(spec))
		require.NoError(t, json.Unmarshal([]byte("{"+test.part+"}"), &spec), test.name)
		require.Error(t, schema.Validate(spec), test.name)
		require.Error(t, schema.Validate([]any{spec}), test.name)
	}
	require.Error(t, schema.Validate("mine"))
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}
