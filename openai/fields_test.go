package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// TestRefusedFields checks that the server refuses an unsupported field before it asks a backend, and that the error
// contains the field's name.
func TestRefusedFields(t *testing.T) {
	s := serving(t, says("x"))
	const tools = `[{"type":"function","function":{"name":"f"}}]`
	for _, test := range []struct{ path, fields, param, code string }{
		{chat, `"tools":` + tools, "tools", "unsupported_parameter"},
		{chat, `"tool_choice":"required"`, "tool_choice", "unsupported_parameter"},
		{chat, `"functions":[{"name":"f"}]`, "functions", "unsupported_parameter"},
		{chat, `"function_call":{"name":"f"}`, "function_call", "unsupported_parameter"},
		{chat, `"n":2`, "n", "unsupported_parameter"},
		{chat, `"logprobs":true`, "logprobs", "unsupported_parameter"},
		{chat, `"modalities":["text","audio"]`, "modalities", "unsupported_parameter"},
		{chat, `"audio":{}`, "audio", "unsupported_parameter"},
		{chat, `"stop":["a","b","c","d","e"]`, "stop", "array_above_max_length"},
		{chat, `"stop":[1]`, "stop", "invalid_type"},
		{chat, `"stop":{"a":1}`, "stop", "invalid_type"},
		{chat, `"stop":"\ud83d"`, "stop", "invalid_value"},
		{chat, `"stop":"` + strings.Repeat("x", 4097) + `"`, "stop", "string_above_max_length"},
		{responses, `"stop":"x"`, "stop", "unknown_parameter"},
		{responses, `"include":["message.output_text.logprobs"]`, "include", "unsupported_parameter"},
		{chat, `"tool_choice":{"type":"function","function":{"name":"f"}}`, "tool_choice", "unsupported_parameter"},
		{chat, `"nonsense":1`, "nonsense", "unknown_parameter"},
		{chat, `"Model":"x"`, "Model", "unknown_parameter"},
		{chat, `"stream":"yes"`, "stream", "invalid_type"},
		{chat, `"stream_options":{"nonsense":1}`, "stream_options.nonsense", "unknown_parameter"},
		{chat, `"response_format":{"type":"xml"}`, "response_format.type", "unsupported_value"},
		{chat, `"response_format":{"type":"json_schema"}`, "response_format.json_schema.schema", "invalid_type"},
		{chat, `"response_format":{"type":"json_schema","json_schema":{"name":"x","grammar":1}}`, "response_format.json_schema.grammar", "unknown_parameter"},
		{chat, `"messages":"hi"`, "messages", "invalid_type"},
		{chat, `"messages":[{"role":"tool","content":"x","tool_call_id":"1"}]`, "messages[0].tool_call_id", "unsupported_parameter"},
		{chat, `"messages":[{"role":"tool","content":"x"}]`, "messages[0].role", "unsupported_value"},
		{chat, `"messages":[{"role":"assistant","tool_calls":` + tools + `}]`, "messages[0].tool_calls", "unsupported_parameter"},
		{chat, `"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}]`, "messages[0].content[0].type", "unsupported_value"},
		{chat, `"messages":[{"role":"user","content":[{"type":"file","file":{}}]}]`, "messages[0].content[0].type", "unsupported_value"},
		{chat, `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}]`, "messages[0].content[0]", "unsupported_value"},
		{chat, `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]`, "messages[0].content[0]", "unsupported_value"},
		{chat, `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}]`, "messages[0].content[0]", "invalid_image"},
		{chat, `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + png + `"}}]},{"role":"user","content":"x"}]`, "messages[0]", "unsupported_value"},
		{responses, `"tools":` + tools, "tools", "unsupported_parameter"},
		{responses, `"previous_response_id":"resp_1"`, "previous_response_id", "unsupported_parameter"},
		{responses, `"conversation":"c"`, "conversation", "unsupported_parameter"},
		{responses, `"background":true`, "background", "unsupported_parameter"},
		{responses, `"messages":[]`, "messages", "unknown_parameter"},
		{responses, `"text":{"format":{"type":"grammar"}}`, "text.format.type", "unsupported_value"},
		{responses, `"input":7`, "input", "invalid_type"},
		{responses, `"input":[{"type":"function_call_output","call_id":"1","output":"x"}]`, "input[0].type", "unsupported_value"},
		{responses, `"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]`, "input[0].content[0].type", "unsupported_value"},
		{responses, `"input":[{"role":"user","content":[{"type":"input_image","file_id":"f"}]}]`, "input[0].content[0].file_id", "unsupported_parameter"},
	} {
		t.Run(test.fields, func(t *testing.T) {
			a := post(t, s, test.path, "{"+test.fields+"}")
			require.Equal(t, 400, a.status, a.body)
			e := a.failure(t)
			require.Equal(t, test.param, e.Param)
			require.Equal(t, test.code, e.Code)
			require.Equal(t, "invalid_request_error", e.Type)
			require.Contains(t, e.Message, test.param)
		})
	}
	for _, body := range []string{"", "[]", `"x"`, "{", "{}}", "\xff"} {
		require.Equal(t, "invalid_json", strings.Replace(post(t, s, chat, body).failure(t).Code, "invalid_type", "invalid_json", 1), body)
	}
}

// TestAcceptedFields checks that supported fields reach the backend, and that fields with neutral values are accepted.
func TestAcceptedFields(t *testing.T) {
	user := func(text string) []clichain.Message {
		return []clichain.Message{{Role: clichain.RoleUser, Content: text}}
	}
	city := `{"type":"object","properties":{"city":{"type":"string"}}}`
	for _, test := range []struct {
		name, path, body string
		want             clichain.Request
	}{
		{"no model", chat, `{"messages":[{"role":"user","content":"hi"}]}`, clichain.Request{Messages: user("hi")}},
		{"chain as model", chat, hi, clichain.Request{Messages: user("hi")}},
		{"backend as model", chat, `{"model":"one","messages":[{"role":"user","content":"hi"}]}`, clichain.Request{Messages: user("hi"), Model: "one"}},
		{"model of a backend", chat, `{"model":"one/large","messages":[{"role":"user","content":"hi"}]}`, clichain.Request{Messages: user("hi"), Model: "one/large"}},
		{"conversation", chat, `{"messages":[{"role":"system","content":"s"},{"role":"developer","content":"d"},{"role":"user","content":"a"},
			{"role":"assistant","content":"b","refusal":null,"annotations":[],"tool_calls":null},{"role":"user","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]}]}`,
			clichain.Request{Messages: []clichain.Message{{Role: clichain.RoleSystem, Content: "s"}, {Role: clichain.RoleSystem, Content: "d"},
				{Role: clichain.RoleUser, Content: "a"}, {Role: clichain.RoleAssistant, Content: "b"}, {Role: clichain.RoleUser, Content: "c\n\nd"}}}},
		{"JSON object", chat, `{"messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_object"}}`,
			clichain.Request{Messages: user("hi"), Schema: []byte(`{"type":"object"}`)}},
		{"schema", chat, `{"messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"c","strict":true,"schema":` + city + `}}}`,
			clichain.Request{Messages: user("hi"), Schema: []byte(city)}},
		{"schema with a description", chat, `{"messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"c","description":"a city","schema":{"type":"object"}}}}`,
			clichain.Request{Messages: user("hi"), Schema: []byte(`{"description":"a city","type":"object"}`)}},
		{"effort", chat, `{"messages":[{"role":"user","content":"hi"}],"reasoning_effort":"high","response_format":{"type":"text"}}`,
			clichain.Request{Messages: user("hi"), Options: clichain.Options{Effort: "high"}}},
		{"neutral values", chat, `{"messages":[{"role":"user","content":"hi"}],"temperature":1.0,"top_p":null,"frequency_penalty":0.0,"n":1,"stop":[],"tools":[],"tool_choice":"none",
			"logprobs":false,"store":false,"user":"u","metadata":{"a":"b"},"seed":null,"parallel_tool_calls":true,"modalities":["text"],"stream":false,"logit_bias":{ }}`,
			clichain.Request{Messages: user("hi")}},
		{"text", responses, `{"model":"clichain","input":"hi"}`, clichain.Request{Messages: user("hi")}},
		{"instructions", responses, `{"input":[{"role":"user","content":"a"},{"type":"message","id":"msg_1","status":"completed","role":"assistant",
			"content":[{"type":"output_text","text":"b","annotations":[]}]},{"role":"user","content":[{"type":"input_text","text":"c"}]}],"instructions":"i",
			"reasoning":{"effort":"low"},"text":{"format":{"type":"json_schema","name":"c","schema":` + city + `}},"store":false,"truncation":"disabled"}`,
			clichain.Request{Messages: []clichain.Message{{Role: clichain.RoleSystem, Content: "i"}, {Role: clichain.RoleUser, Content: "a"},
				{Role: clichain.RoleAssistant, Content: "b"}, {Role: clichain.RoleUser, Content: "c"}},
				Schema: []byte(city), Options: clichain.Options{Effort: "low"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			backend := says("x")
			backend.asked = make(chan clichain.Request, 1)
			a := post(t, serving(t, backend), test.path, test.body)
			require.Equal(t, 200, a.status, a.body)
			require.Equal(t, test.want, <-backend.asked)
		})
	}
}
