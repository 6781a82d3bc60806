package input

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
)

func system(text string) clichain.Message {
	return clichain.Message{Role: clichain.RoleSystem, Content: text}
}

func user(text string) clichain.Message {
	return clichain.Message{Role: clichain.RoleUser, Content: text}
}

func TestJobs(t *testing.T) {
	defaults := clichain.Request{
		Messages: []clichain.Message{system("Be brief.")}, Model: "opus", Dir: "/srv",
		Options: clichain.Options{Effort: "low", MaxTurns: 3, AllowedTools: []string{"Read", "Grep"}},
	}
	for _, test := range []struct {
		name, line string
		want       func(*jetstream.Job)
	}{
		{"prompt", `{"prompt":"hi"}`, func(*jetstream.Job) {}},
		{"null values", `{"prompt":"hi","model":null,"messages":null}`, func(*jetstream.Job) {}},
		{"id", `{"id":"a b","prompt":"hi"}`, func(j *jetstream.Job) { j.ID = "a b" }},
		{"numeric id", `{"id":12345678901234567890,"prompt":"hi"}`, func(j *jetstream.Job) { j.ID = "12345678901234567890" }},
		{"system prompt", `{"system":"Rhyme.","prompt":"hi"}`, func(j *jetstream.Job) {
			j.Request.Messages = []clichain.Message{system("Rhyme."), user("hi")}
		}},
		{"empty system prompt", `{"system":"","prompt":"hi"}`, func(j *jetstream.Job) {
			j.Request.Messages = []clichain.Message{system(""), user("hi")}
		}},
		{"messages with a system prompt", `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`,
			func(j *jetstream.Job) { j.Request.Messages = []clichain.Message{system("s"), user("hi")} }},
		{"messages without a system prompt", `{"messages":[{"role":"user","content":"hi"}]}`, func(*jetstream.Job) {}},
		{"directory with access", `{"prompt":"hi","access":"read"}`, func(j *jetstream.Job) {
			j.Request.Access, j.Request.Dir = clichain.AccessRead, "/srv"
		}},
		{"all fields", `{"prompt":"hi","model":"o","access":"write","dir":"/d","schema":{"type":"object"},"metadata":{"k":"v"},
			"priority":"low","deadline":"2030-01-02T03:04:05Z","idempotent":true}`, func(j *jetstream.Job) {
			j.Priority, j.Deadline, j.Idempotent = "low", time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), true
			j.Request.Model, j.Request.Access, j.Request.Dir = "o", clichain.AccessWrite, "/d"
			j.Request.Schema, j.Request.Metadata = []byte(`{"type":"object"}`), map[string]string{"k": "v"}
		}},
		{"options over the defaults", `{"prompt":"hi","options":{"effort":"high","allowed_tools":["Bash"]}}`, func(j *jetstream.Job) {
			j.Request.Options.Effort, j.Request.Options.AllowedTools = "high", []string{"Bash"}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := parseEntry([]byte(test.line))
			require.NoError(t, err)
			got, err := e.job(&Parser{Defaults: defaults})
			require.NoError(t, err)
			want := jetstream.Job{ID: got.ID, Request: defaults}
			want.Request.Dir, want.Request.Messages = "", []clichain.Message{system("Be brief."), user("hi")}
			test.want(&want)
			require.Equal(t, want, got)
			require.Equal(t, []string{"Read", "Grep"}, defaults.Options.AllowedTools, "those of all lines")
		})
	}
}

// The id of a line without an id does not depend on its position. Lines with equal content get different ids.
func TestParserDerivesIDs(t *testing.T) {
	idsIn := func(lines ...string) (ids []string) {
		p := &Parser{}
		for i, line := range lines {
			parsed, err := p.Parse(t.Context(), Line{Number: i + 1, Text: []byte(line)})
			require.NoError(t, err)
			ids = append(ids, parsed.Job.ID)
		}
		return ids
	}
	const hi, ho, own = `{"prompt":"hi"}`, `{"prompt":"ho"}`, `{"prompt":"hi","id":"own"}`
	require.Equal(t, []string{"14479f4e87d340fe-1"}, idsIn(hi))
	require.Equal(t, append(idsIn(ho), "14479f4e87d340fe-1", "14479f4e87d340fe-2", "own"), idsIn(ho, hi, ` {"prompt": "hi"}`, own))
}

func TestParserRejectsInvalidLines(t *testing.T) {
	for _, test := range []struct{ name, line, want string }{
		{"invalid JSON", `{"prompt":"hi"`, "is not valid JSON: unexpected end of JSON input"},
		{"two values", `{"prompt":"hi"} {}`, "is not valid JSON: invalid character"},
		{"array instead of an object", `["hi"]`, `is not a JSON object: write {"prompt": "..."}`},
		{"invalid UTF-8", "{\"prompt\":\"\xff\"}", "is not valid UTF-8"},
		{"misspelled field", `{"promt":"hi"}`, "promt: there is no such field: did you mean prompt? known fields are access,"},
		{"field in another case", `{"Prompt":"hi"}`, "Prompt: there is no such field"},
		{"option as a field", `{"prompt":"hi","max_turns":1}`, `max_turns: is an option: write it as {"options": {"max_turns": ...}}`},
		{"field reserved for the operator", `{"prompt":"hi","env":{"PATH":"/x"}}`, "env: a line cannot set it"},
		{"duplicate field", `{"prompt":"hi","prompt":"ho"}`, "prompt: is set twice"},
		{"prompt and messages", `{"prompt":"hi","messages":[]}`, "has both prompt and messages"},
		{"neither prompt nor messages", `{}`, "has neither prompt nor messages"},
		{"wrong type", `{"prompt":["hi"]}`, "prompt: must be a string"},
		{"array as id", `{"id":[7],"prompt":"hi"}`, "id: must be a string or a number"},
		{"empty id", `{"id":"","prompt":"hi"}`, "it has 0 bytes: use 1 to 400"},
		{"unknown access", `{"prompt":"hi","access":"all"}`, "access: must be none, read, write or full"},
		{"unknown priority", `{"prompt":"hi","priority":"soon"}`, `priority: "soon" is none of`},
		{"unknown option", `{"prompt":"hi","options":{"efort":"low"}}`, "options: options.efort: there is no such field: did you mean effort?"},
		{"unknown message field", `{"messages":[{"role":"user","text":"hi"}]}`, `messages: must be a list of {"role", "content"}`},
		{"unknown role", `{"messages":[{"role":"boss","content":"hi"}]}`, `messages[0].role: "boss" is not one of system, user, assistant`},
		{"blank prompt", `{"prompt":" "}`, "messages: no message has text"},
		{"no messages", `{"messages":[]}`, "messages: add at least one message"},
		{"directory without access", `{"prompt":"hi","dir":"/srv"}`, `dir: a call without access cannot work in `},
		{"NUL byte in the prompt", `{"prompt":"a\u0000b"}`, "messages[0].content: NUL byte"},
		{"metadata with a number", `{"prompt":"hi","metadata":{"k":1}}`, "metadata: must be an object of strings"},
		{"invalid deadline", `{"prompt":"hi","deadline":"soon"}`, "deadline: must be a time such as"},
		{"invalid schema", `{"prompt":"hi","schema":{"type":7}}`, "schema"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := (&Parser{}).Parse(t.Context(), Line{Number: 1, Text: []byte(test.line)})
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestUnknownFields(t *testing.T) {
	e, err := parseEntry([]byte(`{"prompt":"hi","n":1.50,"o":{"a": [1]},"idx":true}`))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"n": "1.50", "o": `{"a":[1]}`, "idx": "true"}, e.extra)
}
