package specs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/specs"
	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	mine := clichain.CliSpec{Name: "mine", Binary: "mine"}
	yours := clichain.CliSpec{Name: "yours", Binary: "yours", LingerMS: 7}
	for _, test := range []struct {
		name, file string
		want       []clichain.CliSpec
	}{
		{"object", `{"name": "mine", "binary": "mine"}`, []clichain.CliSpec{mine}},
		{"array", `[{"name":"mine","binary":"mine"},{"name":"yours","binary":"yours","linger_ms":7}]`, []clichain.CliSpec{mine, yours}},
		{"array of one", "\n [{\"name\":\"mine\",\"binary\":\"mine\"}]\n\n", []clichain.CliSpec{mine}},
		{"blanks around an object", "\r\n\t{\"name\":\"mine\",\"binary\":\"mine\"}  \r\n", []clichain.CliSpec{mine}},
		{"names of access levels", `{"name":"mine","binary":"mine","transports":["stdin"],"args":[{"args":["-x"],"when":{"access":["read","full"]}}]}`,
			[]clichain.CliSpec{{Name: "mine", Binary: "mine", Transports: []clichain.Transport{clichain.TransportStdin}, Args: []clichain.ArgRow{{Args: []string{"-x"}, When: clichain.When{Access: []clichain.Access{clichain.AccessRead, clichain.AccessFull}}}}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := specs.Load(strings.NewReader(test.file))
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestLoadMistakes(t *testing.T) {
	ok := `{"name":"mine","binary":"mine"}`
	for _, test := range []struct {
		name, file string
		want       []string
	}{
		{"empty file", "", []string{"specs: the file is empty"}},
		{"blank file", " \n\t\n", []string{"specs: the file is empty"}},
		{"text", "\nmine", []string{"line 2", "invalid character 'm'"}},
		{"syntax error", "{\n  \"name\": \"mine\",\n  \"binary\" \"mine\"\n}", []string{"line 3", "invalid character '\"'"}},
		{"a comma too many", "[\n" + ok + ",\n]", []string{"line 3", "invalid character ']'"}},
		{"cut short", "{\n  \"name\": \"mine\",\n  \"binary\": \"mi", []string{"line 3", "unexpected EOF"}},
		{"a string for a number", "{\n\"name\":\"mine\",\n\"linger_ms\":\"7\"}", []string{"line 3", "linger_ms: a string stands where int must"}},
		{"a number for a string", "[\n" + ok + ",\n{\"name\":\n7}]", []string{"line 4", "name: a number stands where string must"}},
		{"a string for a list", "{\"args\":[{\"args\":\"-p\"}]}", []string{"line 1", "args.args: a string stands where []string must"}},
		{"not a spec", "7", []string{"line 1", "number stands where"}},
		{"a list of no specs", "[7]", []string{"line 1", "number stands where"}},
		{"unknown field", "{\n\"name\":\"mine\",\n\"binry\":\"mine\"\n}", []string{`specs: json: unknown field "binry"`}},
		{"unknown field inside", "{\"name\":\"mine\",\n\"args\":[{\"argz\":[]}]}", []string{`specs: json: unknown field "argz"`}},
		{"unknown access level", `{"args":[{"args":["x"],"when":{"access":["root"]}}]}`, []string{`access: "root" is none of`}},
		{"two objects", ok + "\n" + ok, []string{"line 2", "text after the end"}},
		{"trailing garbage", ok + "\n\n}", []string{"line 3", "text after the end"}},
		{"duplicate names", "[" + ok + "," + ok + "]", []string{`specs[1].name: "mine" is the name of specs[0] already`}},
		{"a mistake in the spec", `[` + ok + `,{"name":"yours","binary":"yours","answer":"x"}]`, []string{`specs[1]: spec "yours": answer: "x" is none of`}},
		{"mistakes in two specs", `[{"name":"A","binary":"a"},{"name":"b"}]`, []string{`specs[0]: spec "A": name`, `specs[1]: spec "b": binary: is missing`}},
		{"null", "null", []string{"name: must be"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := specs.Load(strings.NewReader(test.file))
			require.Error(t, err)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestLoadFindsSpecErrors(t *testing.T) {
	_, err := specs.Load(strings.NewReader(`[{"name":"a","binary":"a","args":[{"args":["{promt}"]}]}]`))
	mistake, ok := errors.AsType[*clichain.SpecError](err)
	require.True(t, ok)
	require.Equal(t, "args[0].args[0]", mistake.Path)
	require.Equal(t, "promt", mistake.Value)
}

func TestLoadIsBounded(t *testing.T) {
	const limit = 4 << 20
	file := []byte(`{"name":"mine","binary":"mine"}`)
	fits := append(file, bytes.Repeat([]byte(" "), limit-len(file))...)
	_, err := specs.Load(bytes.NewReader(fits))
	require.NoError(t, err)
	_, err = specs.Load(bytes.NewReader(append(fits, ' ')))
	require.ErrorContains(t, err, "over 4194304 bytes")
}

func TestLoadFromABrokenReader(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := specs.Load(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

func TestLoadReadsWhatAllWrites(t *testing.T) {
	data, err := json.Marshal(specs.All())
	require.NoError(t, err)
	got, err := specs.Load(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, specs.All(), got)
}
