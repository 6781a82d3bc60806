package call

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequestSurvivesJSON(t *testing.T) {
	req := Request{
		Messages: []Message{message(RoleSystem, "S"), message(RoleUser, "P")}, Model: "opus", Access: AccessWrite, Dir: "/d", Session: "claude:1",
		Schema: json.RawMessage(`{"type":"object"}`), Metadata: map[string]string{"job": "7"},
		Options: Options{MaxTurns: 2, MaxBudgetUSD: 0.5, AllowedTools: []string{"a"}, DisallowedTools: []string{"b"}, Effort: "low"},
	}
	data, err := json.Marshal(req)
	require.NoError(t, err)
	require.Contains(t, string(data), `"access":"write"`)
	require.Contains(t, string(data), `"max_budget_usd":0.5`)
	var back Request
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, req, back)

	data, err = json.Marshal(Prompt("P"))
	require.NoError(t, err)
	require.JSONEq(t, `{"messages":[{"role":"user","content":"P"}]}`, string(data), "what is not set is not there")
}

func TestAccessText(t *testing.T) {
	for i, access := range []Access{AccessNone, AccessRead, AccessWrite, AccessFull} {
		require.Equal(t, Access(i), access)
		var back Access
		require.NoError(t, back.UnmarshalText([]byte(access.String())))
		require.Equal(t, access, back)
	}
	back := AccessFull
	require.NoError(t, back.UnmarshalText(nil))
	require.Equal(t, AccessNone, back)
	require.ErrorContains(t, back.UnmarshalText([]byte("root")), `"root" is none of`)
	for _, undefined := range []Access{-1, AccessFull + 1} {
		_, err := undefined.MarshalText()
		require.ErrorContains(t, err, fmt.Sprintf("%d is none of", int(undefined)))
		require.Equal(t, fmt.Sprintf("Access(%d)", int(undefined)), undefined.String())
	}
	text, err := AccessNone.MarshalText()
	require.NoError(t, err)
	require.Equal(t, "none", string(text))
}

func message(role Role, text string) Message { return Message{role, text} }

// An error names each unknown field and suggests a similar one. No field is ignored silently.
func TestRequestJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"acces":"read"}`:                              "bad_option (acces): there is no such field: did you mean access?",
		`{"options":{"max_turn":3}}`:                    "bad_option (options.max_turn): there is no such field: did you mean max_turns?",
		`{"options":{"max-turns":3}}`:                   "bad_option (options.max-turns): there is no such field: did you mean max_turns?",
		`{"messages":[],"zzz":1}`:                       "bad_option (zzz): there is no such field",
		`{"options":{"max_budget":1}}`:                  "bad_option (options.max_budget): there is no such field: did you mean max_budget_usd?",
		`{"options":{"Budget":1}}`:                      "bad_option (options.Budget): there is no such field: did you mean max_budget_usd?",
		`{"options":{"mcp":1}}`:                         "bad_option (options.mcp): there is no such field: did you mean mcp_config or strict_mcp?",
		`{"options":{"id":1}}`:                          "bad_option (options.id): there is no such field",
		`{"options":{"":1}}`:                            "bad_option (options.): there is no such field",
		`{"options":{"max_turns":"3"}}`:                 "bad_option (options.max_turns): must be an integer, not a string",
		`{"options":{"max_turns":1.5}}`:                 "bad_option (options.max_turns): must be an integer, not the number 1.5",
		`{"options":{"max_budget_usd":"1"}}`:            "bad_option (options.max_budget_usd): must be a number, not a string",
		`{"options":{"allowed_tools":"Bash"}}`:          "bad_option (options.allowed_tools): must be an array, not a string",
		`{"options":{"add_dirs":["a",2]}}`:              "bad_option (options.add_dirs): must be a string, not a number",
		`{"options":{"extra":{"claude":[true]}}}`:       "bad_option (options.extra): must be a string, not a boolean",
		`{"options":{"strict_mcp":1}}`:                  "bad_option (options.strict_mcp): must be a boolean, not a number",
		`{"options":[]}`:                                "bad_option (options): must be an object, not an array",
		`{"model":3}`:                                   "bad_option (model): must be a string, not a number",
		`{"messages":[{"role":1}]}`:                     "bad_option (messages.role): must be a string, not a number",
		`{"messages":{}}`:                               "bad_option (messages): must be an array, not an object",
		`{"env":["A=b"]}`:                               "bad_option (env): must be an object, not an array",
		`{"access":3}`:                                  "bad_option (access): must be a string, not a number",
		`{"access":"rread"}`:                            `bad_option (access): "rread" is none of ["none" "read" "write" "full"]`,
		`[]`:                                            "bad_option: must be an object, not an array",
		`{"messages":[{"role":"user","contents":"a"}]}`: "bad_option (contents): there is no such field",
	} {
		var req Request
		err := json.Unmarshal([]byte(text), &req)
		require.ErrorIs(t, err, ErrBadOption, text)
		require.EqualError(t, err, want)
	}
	var wrong *json.UnmarshalTypeError
	require.ErrorAs(t, json.Unmarshal([]byte(`{"model":1}`), new(Request)), &wrong)

	require.ErrorIs(t, new(Request).UnmarshalJSON([]byte(`{"model":`)), ErrBadOption)

	full := Prompt("hi")
	full.Access, full.Schema, full.Options = AccessRead, json.RawMessage(`{}`), Options{MaxTurns: 3, AllowedTools: []string{"a"}}
	data, err := json.Marshal(full)
	require.NoError(t, err)
	var back Request
	require.NoError(t, json.Unmarshal(data, &back))
	require.Equal(t, full, back)
	require.NoError(t, json.Unmarshal([]byte(`{"model":"m"}`), &back))
	require.Equal(t, full.Messages, back.Messages, "what is not named stays")
}

// A change of a clone does not change the request.
func TestRequestClone(t *testing.T) {
	full := func() Request {
		return Request{
			Messages: []Message{message(RoleUser, "P")}, Schema: json.RawMessage(`{}`), Threads: []Thread{{Backend: "a"}},
			Env: map[string]string{"A": "1"}, Metadata: map[string]string{"k": "v"},
			Options: Options{
				AllowedTools: []string{"a"}, DisallowedTools: []string{"b"}, AddDirs: []string{"/d"}, Images: []string{"i.png"},
				Agents: json.RawMessage(`{}`), MCPConfig: []json.RawMessage{json.RawMessage(`{}`)}, Extra: map[string][]string{"c": {"-v"}},
			},
		}
	}
	req := full()
	c := req.Clone()
	require.Equal(t, full(), c)
	c.Messages[0].Content, c.Schema[0], c.Threads[0].Backend, c.Env["A"], c.Metadata["k"] = "", 'x', "", "", ""
	o := c.Options
	o.AllowedTools[0], o.DisallowedTools[0], o.AddDirs[0], o.Images[0] = "", "", "", ""
	o.Agents[0], o.MCPConfig[0][0], o.Extra["c"][0], o.Extra["d"] = 'x', 'x', "", nil
	require.Equal(t, full(), req)
	require.Equal(t, Request{}, Request{}.Clone())
}

// An unknown confinement would be none, so it is an error.
func TestConfinementText(t *testing.T) {
	for _, known := range []Confinement{ConfineAuto, ConfineRequired, ConfineOff} {
		var c Confinement
		require.NoError(t, c.UnmarshalText([]byte(known)))
		require.Equal(t, known, c)
	}
	c := ConfineRequired
	for _, text := range []string{"", "none", "Off"} {
		require.EqualError(t, c.UnmarshalText([]byte(text)), `is "`+text+`": use auto, required or off`)
	}
	require.Equal(t, ConfineRequired, c)
}
