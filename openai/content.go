package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// roles are those of both APIs. A developer's word is a system prompt.
var roles = map[string]call.Role{
	"system": clichain.RoleSystem, "developer": clichain.RoleSystem,
	"user": clichain.RoleUser, "assistant": clichain.RoleAssistant,
}

func role(at, name string) (call.Role, *apiError) {
	r, ok := roles[name]
	if !ok {
		return "", refusal(at, "unsupported_value",
			"%q is none of system, developer, user and assistant; tools are not used here", name)
	}
	return r, nil
}

// parts are the kinds of content parts of an API, by what they are here.
type parts struct {
	text, image map[string]fields // by the part's type
	url         func(at string, part []byte) (string, *apiError)
}

// maxPieces bounds the messages of a request and the parts of their contents, together: reading one takes as long as
// reading some kilobytes of text.
const maxPieces = 10_000

// pieces is a JSON list of messages or parts, up to the first one that is too many.
type pieces []json.RawMessage

// UnmarshalJSON reads no further than maxPieces needs.
func (p *pieces) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return cmp.Or(err, json.Unmarshal(data, (*[]json.RawMessage)(p))) // which says what it is
	}
	for *p = nil; d.More() && len(*p) <= maxPieces; {
		var piece json.RawMessage
		if err := d.Decode(&piece); err != nil {
			return err
		}
		*p = append(*p, piece)
	}
	return nil
}

// content is what a message says.
type content struct {
	text   string
	images []image
	parts  int
}

// read reads content: a text, or a list of parts.
func (p parts) read(at string, data json.RawMessage) (c content, _ *apiError) {
	if json.Unmarshal(data, &c.text) == nil {
		return c, nil // null too: an assistant may have said nothing
	}
	var list pieces
	if err := json.Unmarshal(data, &list); err != nil {
		return c, refusal(at, "invalid_type", "write a text, or a list of parts")
	}
	c.parts = len(list)
	if c.parts > maxPieces {
		return c, tooLong(at)
	}
	var texts []string
	for i, part := range list {
		at := fmt.Sprintf("%s[%d]", at, i)
		text, img, err := p.part(at, part)
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

func (p parts) part(at string, data []byte) (text string, img *image, _ *apiError) {
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
		err := object{at: at, fields: known}.read(data, &part)
		return part.Text + part.Refusal, nil, err
	}
	if known, ok := p.image[kind.Type]; ok {
		if err := (object{at: at, fields: known}).read(data, &struct{}{}); err != nil {
			return "", nil, err
		}
		url, err := p.url(at, data)
		if err != nil {
			return "", nil, err
		}
		img, problem := parseImage(at, url)
		return "", img, problem
	}
	return "", nil, refusal(at+".type", "unsupported_value",
		"parts of the type %q cannot be given to a CLI: send text or images", kind.Type)
}

// talk is a conversation that is being read.
type talk struct {
	messages []clichain.Message
	images   []image
	imagesAt string // the message that they are in
	pieces   int    // messages and parts
}

func tooLong(at string) *apiError {
	return refusal(at, "array_above_max_length",
		"there are more than %d messages and parts of messages: join them", maxPieces)
}

// say adds a message. Images go with the last one: no CLI can be told to which earlier one they belong.
func (t *talk) say(at string, r call.Role, c content) *apiError {
	if t.pieces += 1 + c.parts; t.pieces > maxPieces {
		return tooLong(at)
	}
	if len(t.images) > 0 {
		return refusal(t.imagesAt, "unsupported_value",
			"images go with the last message: no CLI can be told to which earlier one they belong")
	}
	if len(c.images) > 0 && r != clichain.RoleUser {
		return refusal(at, "unsupported_value", "only a user shows images")
	}
	t.messages = append(t.messages, clichain.Message{Role: r, Content: c.text})
	t.images, t.imagesAt = c.images, at
	return nil
}
