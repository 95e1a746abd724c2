/*
 * room_routes - the rooms of all projects of this user over HTTP: listed, made, read, posted to,
 * signed off.
 *
 * A room is found by its name in the projects that ran a pipeline or made a room
 * (run/project_list.h), and in the rooms of the directory that the server was started in. A name
 * that several projects have needs the argument project.
 *
 * A message is appended to the room's own channel.jsonl under its lock, as cliq channel post does,
 * and published as the signal room:<room>:<type> (manager/room_signals.h), which the streams of
 * this server tell. As a file's owner may, a key with the scope emit posts in the name of any role.
 *
 * Tests: test/scenario/room_http.bats
 */
#ifndef CLIQ_SERVE_ROOM_ROUTES_H
#define CLIQ_SERVE_ROOM_ROUTES_H

#include "serve/file_route.h"

extern const struct file_route room_routes[];

#endif
