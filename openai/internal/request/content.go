package request

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/openai/internal/apierror"
)

// roles are the roles of both APIs. Messages of a developer are system prompts.
var roles = map[string]call.Role{
	"system": call.RoleSystem, "developer": call.RoleSystem,
	"user": call.RoleUser, "assistant": call.RoleAssistant,
}

// parts are the types of content parts of an API.
type parts struct {
	text, image map[string]fields // by type
	url         func(at string, part []byte, policy *Policy) (string, *apierror.Error)
}

// maxElements limits the messages of a request and the parts of their contents, together: reading one of them takes as
// long as reading some kilobytes of text.
const maxElements = 10_000

// elements is a JSON list of messages or parts, up to the first one above the limit.
type elements []json.RawMessage

// UnmarshalJSON stops after the first element above the limit.
func (e *elements) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return cmp.Or(err, json.Unmarshal(data, (*[]json.RawMessage)(e))) // its error names the type
	}
	for *e = nil; d.More() && len(*e) <= maxElements; {
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return err
		}
		*e = append(*e, element)
	}
	return nil
}

// content is the content of a message.
type content struct {
	text   string
	images []Image
	parts  int
}

// read reads content, which is a text or a list of parts.
func (p parts) read(at string, data json.RawMessage, policy *Policy) (c content, _ *apierror.Error) {
	if json.Unmarshal(data, &c.text) == nil {
		return c, nil // null too: it is valid for an assistant
	}
	var list elements
	if err := json.Unmarshal(data, &list); err != nil {
		return c, apierror.Field(at, "invalid_type", "write a text, or a list of parts")
	}
	c.parts = len(list)
	if c.parts > maxElements {
		return c, tooLong(at)
	}
	var texts []string
	for i, part := range list {
		at := fmt.Sprintf("%s[%d]", at, i)
		text, img, err := p.part(at, part, policy)
		if err != nil {
			return c, err
		}
		if img != nil {
			c.images = append(c.images, *img)
		} else {
			texts = append(texts, text)
		}
	}
	c.text = strings.Join(texts, "\n\n")
	return c, nil
}

func (p parts) part(at string, data []byte, policy *Policy) (text string, img *Image, _ *apierror.Error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &kind); err != nil {
		return "", nil, object{at: at}.malformed(err)
	}
	if known, ok := p.text[kind.Type]; ok {
		var part struct {
			Text    string `json:"text"`
			Refusal string `json:"refusal"`
		}
		err := object{at: at, fields: known, policy: policy}.read(data, &part)
		return part.Text + part.Refusal, nil, err
	}
	if known, ok := p.image[kind.Type]; ok {
		if err := (object{at: at, fields: known, policy: policy}).read(data, &struct{}{}); err != nil {
			return "", nil, err
		}
		url, err := p.url(at, data, policy)
		if err != nil {
			return "", nil, err
		}
		img, problem := parseImage(at, url)
		return "", img, problem
	}
	return "", nil, apierror.Field(at+".type", "unsupported_value",
		"parts of the type %q cannot be given to a CLI: send text or images", kind.Type)
}

// conversation collects the messages of a request.
type conversation struct {
	parts    parts
	policy   *Policy
	messages []call.Message
	images   []Image
	imagesAt string // the path of their message
	elements int    // messages and parts
	recalled map[string]bool
}

func tooLong(at string) *apierror.Error {
	return apierror.Field(at, "array_above_max_length",
		"there are more than %d messages and parts of messages: join them", maxElements)
}

// read adds a message as the API writes it.
func (c *conversation) read(at, roleName string, data json.RawMessage, refusal string) *apierror.Error {
	role, ok := roles[roleName]
	if !ok {
		return apierror.Field(at+".role", "unsupported_value",
			"%q is none of system, developer, user and assistant; tools are not used here", roleName)
	}
	m, err := c.parts.read(at+".content", data, c.policy)
	if err != nil {
		return err
	}
	m.text += refusal
	return c.add(at, role, m)
}

// add adds a message. Only the last one can have images: no CLI takes images of an earlier one.
func (c *conversation) add(at string, role call.Role, m content) *apierror.Error {
	if c.elements += 1 + m.parts; c.elements > maxElements {
		return tooLong(at)
	}
	if len(c.images) > 0 {
		return apierror.Field(c.imagesAt, "unsupported_value",
			"only the last message can have images: a CLI cannot assign images to earlier messages")
	}
	if len(m.images) > 0 && role != call.RoleUser {
		return apierror.Field(at, "unsupported_value", "only a user shows images")
	}
	c.messages = append(c.messages, call.Message{Role: role, Content: m.text})
	c.images, c.imagesAt = m.images, at
	return nil
}
