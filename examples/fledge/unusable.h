// Input that a command cannot use, in its two lines and with its exit status.
#pragma once

#include <string>

#include "engine/errors.h"
#include "examples/support/options.h"
#include "nn/io/files.h"
#include "nn/io/json_reader.h"
#include "nn/io/safetensors.h"

namespace fledge {

/// Runs the body; what it throws about files and their contents becomes a Refusal with exit status 3.
template <class Body>
int with_usable_input(const std::string& program, const std::string& advice, Body body) {
  const auto refuse = [&](const std::exception& error) {
    throw support::Refusal(support::Exit::unusable_input, program, error.what(), advice);
  };
  try {
    return body();
  } catch (const FileError& error) {
    refuse(error);
  } catch (const JsonError& error) {
    refuse(error);
  } catch (const StoredError& error) {
    refuse(error);
  } catch (const ValueError& error) {
    refuse(error);
  } catch (const ShapeError& error) {
    refuse(error);
  }
  return static_cast<int>(support::Exit::unusable_input);
}

}  // namespace fledge
