package jsondiff

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDifferences(t *testing.T) {
	for _, test := range []struct{ name, old, now, want string }{
		{"equal values", `{"a": [1, {"b": "c"}]}`, `{"a": [1, {"b": "c"}]}`, ""},
		{"changed value", `{"a": "x", "b": 1}`, `{"a": "y", "b": 1}`, `~ a: "x" → "y"`},
		{"changed type", `{"a": [1]}`, `{"a": {"b": 1}}`, `~ a: [1] → {"b":1}`},
		{"added and removed fields", `{"a": {"x": 1, "y": 2}}`, `{"a": {"y": 2, "z": null}}`, "- a.x: 1\n+ a.z: null"},
		{"numeric keys", `{"codes": {"41": "x"}}`, `{"codes": {"41": "y", "9": "z"}}`, `~ codes[41]: "x" → "y"` + "\n" + `+ codes[9]: "z"`},
		{"inserted elements", `{"a": [1, 2, 3]}`, `{"a": [0, 1, 2, 9, 3]}`, "+ a[0]: 0\n+ a[3]: 9"},
		{"removed elements", `{"a": [0, 1, 2, 9, 3]}`, `{"a": [1, 2, 3]}`, "- a[0]: 0\n- a[3]: 9"},
		{"changed element in a list", `{"a": [{"x": 1, "y": 1}, {"x": 2}]}`, `{"a": [{"x": 3}, {"x": 1, "y": 2}, {"x": 2}]}`, "~ a[0].x: 1 → 3\n- a[0].y: 1\n+ a[1]: {\"x\":1,\"y\":2}"},
		{"moved element", `{"a": ["x", "y"]}`, `{"a": ["y", "x"]}`, `- a[0]: "x"` + "\n" + `+ a[1]: "x"`},
		{"large numbers", `{"a": 9007199254740993}`, `{"a": 9007199254740992}`, "~ a: 9007199254740993 → 9007199254740992"},
		{"HTML characters", `{"a": "<&>"}`, `{"a": "<>"}`, `~ a: "<&>" → "<>"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := Compare(json.RawMessage(test.old), json.RawMessage(test.now))
			require.NoError(t, err)
			var lines []string
			for _, d := range found {
				lines = append(lines, d.String())
			}
			require.Equal(t, test.want, strings.Join(lines, "\n"))
		})
	}
}
