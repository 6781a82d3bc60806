package call

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/clichain/clichain/internal/spelling"
)

// UnmarshalJSON reads a request. A field that there is not is a mistake, an
// [*Error] with the reason bad_option that names it: left out in silence, it could
// have been a limit.
func (r *Request) UnmarshalJSON(data []byte) error {
	type plain Request
	return strictly(data, (*plain)(r), "")
}

// UnmarshalJSON reads options as [Request.UnmarshalJSON] does.
func (o *Options) UnmarshalJSON(data []byte) error {
	type plain Options
	return strictly(data, (*plain)(o), "options.")
}

func strictly(data []byte, v any, within string) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		return nil
	}
	quoted, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	if name, _ := strconv.Unquote(quoted); unknown {
		return Errorf(ReasonBadOption, within+name, "there is no such field%s", meant(name, reflect.TypeOf(v).Elem()))
	}
	return err
}

// meant is the field of a struct that a misspelt name may have meant.
func meant(name string, of reflect.Type) string {
	var names []string
	for i := range of.NumField() {
		field, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names = append(names, field)
	}
	if near := spelling.Near(strings.ReplaceAll(name, "-", "_"), names); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}
