package live_test

import "fmt"

func text(m object, path ...string) string {
	s, _ := dig(m, path[:len(path)-1]...)[path[len(path)-1]].(string)
	return s
}

func dig(m object, path ...string) object {
	for _, name := range path {
		m, _ = m[name].(object)
	}
	return m
}

func (a *agent) reply(id any, result object) {
	if a.dialect == "control" {
		a.send(object{"type": "control_response", "response": object{"subtype": "success", "request_id": id, "response": result}})
		return
	}
	a.send(object{"id": id, "result": result})
}

func (a *agent) fail(id any, message string) {
	if a.dialect == "control" {
		a.send(object{"type": "control_response", "response": object{"subtype": "error", "request_id": id, "error": message}})
		return
	}
	a.send(object{"id": id, "error": object{"code": -32000, "message": message}})
}

func (a *agent) turnID(request any) string { return fmt.Sprint("turn-", request) }
