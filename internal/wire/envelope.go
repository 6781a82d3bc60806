package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/tidwall/gjson"
)

// kind is the kind of a message.
type kind int

const (
	notice kind = iota
	request
	response
)

// message is a parsed line of the CLI.
type message struct {
	kind   kind
	id     string          // id of a request or a response, as JSON
	method string          // method of a request or a notice
	body   json.RawMessage // parameters or result
	err    *Error          // error of a failed response
	ended  error           // set if no response will come
}

// envelope is the format of messages. The protocols differ only in their envelope.
type envelope interface {
	request(id int, method string, params json.RawMessage) any
	notice(method string, params json.RawMessage) any
	answer(id, result json.RawMessage) any
	failure(id json.RawMessage, err *Error) any
	read(line gjson.Result) message
	id(n int) string // id of our request n, as JSON
}

// envelopes maps the names in a spec to envelopes.
var envelopes = map[clispec.LiveEnvelope]envelope{
	clispec.EnvelopeJSONRPC: rpc{},
	clispec.EnvelopeControl: control{},
}

// object is a JSON object. Encoding it omits nil values.
type object map[string]any

func (o object) MarshalJSON() ([]byte, error) {
	kept := map[string]any{}
	for name, value := range o {
		if raw, ok := value.(json.RawMessage); !ok || raw != nil {
			kept[name] = value
		}
	}
	return json.Marshal(kept)
}

// rpc is JSON-RPC 2.0. It does not require the member "jsonrpc", because some CLIs omit it.
type rpc struct{}

func (rpc) id(n int) string { return strconv.Itoa(n) }

func (rpc) request(id int, method string, params json.RawMessage) any {
	return object{"jsonrpc": "2.0", "id": id, "method": method, "params": params}
}

func (rpc) notice(method string, params json.RawMessage) any {
	return object{"jsonrpc": "2.0", "method": method, "params": params}
}

func (rpc) answer(id, result json.RawMessage) any {
	if result == nil {
		result = json.RawMessage("null") // JSON-RPC requires a result
	}
	return object{"jsonrpc": "2.0", "id": id, "result": result}
}

func (rpc) failure(id json.RawMessage, err *Error) any {
	return object{"jsonrpc": "2.0", "id": id, "error": object{"code": err.Code, "message": err.Message}}
}

func (rpc) read(line gjson.Result) message {
	id, method := line.Get("id"), text(line.Get("method"))
	asked := id.Exists() && id.Type != gjson.Null
	switch {
	case method != "" && asked:
		return message{kind: request, id: id.Raw, method: method, body: raw(line.Get("params"))}
	case asked:
		m := message{kind: response, id: id.Raw, body: raw(line.Get("result"))}
		switch failed := line.Get("error"); {
		case failed.IsObject():
			m.err = &Error{int(failed.Get("code").Int()), text(failed.Get("message")), raw(failed.Get("data"))}
		case failed.Exists() && failed.Type != gjson.Null: // some CLIs send only a string
			m.err = &Error{Message: text(failed)}
		}
		return m
	}
	return message{method: method}
}

// control is the envelope of claude's stream-json: control_request and control_response, beside other lines.
type control struct{}

func (control) id(n int) string { return strconv.Quote(fmt.Sprintf("clichain-%d", n)) }

func (c control) request(id int, method string, params json.RawMessage) any {
	asked := members(params)
	asked["subtype"] = method
	return object{"type": "control_request", "request_id": json.RawMessage(c.id(id)), "request": asked}
}

func (control) notice(method string, params json.RawMessage) any {
	o := members(params)
	o["type"] = method
	return o
}

// members returns the members of params, which is an object or empty.
func members(params json.RawMessage) object {
	var raw map[string]json.RawMessage
	_ = json.Unmarshal(params, &raw) // Validate accepts only templates of objects
	o := object{}
	for name, value := range raw {
		o[name] = value
	}
	return o
}

func (control) answer(id, result json.RawMessage) any {
	return responding(object{"subtype": "success", "request_id": id, "response": result})
}

func (control) failure(id json.RawMessage, err *Error) any {
	return responding(object{"subtype": "error", "request_id": id, "error": err.Message})
}

func responding(response object) object {
	return object{"type": "control_response", "response": response}
}

func (control) read(line gjson.Result) message {
	switch kind := text(line.Get("type")); kind {
	case "control_request":
		asked := line.Get("request")
		return message{kind: request, id: line.Get("request_id").Raw, method: text(asked.Get("subtype")), body: raw(asked)}
	case "control_response":
		answer := line.Get("response")
		m := message{kind: response, id: answer.Get("request_id").Raw, body: raw(answer.Get("response"))}
		if answer.Get("subtype").String() == "error" {
			m.err = &Error{Message: text(answer.Get("error"))}
		}
		return m
	default:
		return message{method: kind}
	}
}

// text returns a copy of a value's text, because the buffer of the line is reused.
func text(value gjson.Result) string { return strings.Clone(value.String()) }

// raw returns a copy of a value, because the buffer of the line is reused.
func raw(value gjson.Result) json.RawMessage {
	if !value.Exists() {
		return nil
	}
	return json.RawMessage(jsontext.Owned(value).Raw)
}
