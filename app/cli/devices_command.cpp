// mantissa-cli devices: what can run here, and if not why.
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "engine/backends/backend_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace mantissa::cli {

namespace {

std::string supportText(FormatSupport support)
{
    return support == FormatSupport::Native ? "native" : "emulated";
}

unsigned threadsHere()
{
    return std::max(1U, std::thread::hardware_concurrency());
}

/// Loads the library that it asks about, which the window's list of devices need not wait for.
std::string exchangeText(const DeviceInfo& device)
{
    return device.available.ok ? backendByName(device.backend).exchangeText() : std::string();
}

Json deviceJson(const DeviceInfo& device)
{
    Json json = {{"name", device.name}, {"backend", device.backend}, {"available", device.available.ok},
        {"reason", device.available.reason}};
    json["formats"] = Json::object();
    if (device.available.ok) {
        json["formats"] = {{"fp16", supportText(device.fp16)}, {"bf16", supportText(device.bf16)}};
    }
    json["threads"] = device.available.ok ? threadsHere() : 0;
    json["instruction_set"] = device.instructionSet;
    json["note"] = device.note;
    json["exchange"] = exchangeText(device);
    return json;
}

int listAll(bool asJson)
{
    const std::vector<DeviceInfo> devices = listDevices();
    if (asJson) {
        Json list = Json::array();
        for (const DeviceInfo& device : devices) {
            list.push_back(deviceJson(device));
        }
        printJson({{"devices", list}});
        return exitDone;
    }
    Table table;
    for (const char* title : {"device", "name", "FP16", "BF16", "threads"}) {
        table.addColumn(title, Table::Align::Left);
    }
    std::string notes;
    for (const DeviceInfo& device : devices) {
        if (device.available.ok) {
            table.addRow({device.backend, device.name, supportText(device.fp16), supportText(device.bf16),
                fmt::format("{}", threadsHere())});
        } else {
            table.addRow({device.backend, device.name, "not available"});
            notes += fmt::format("{}: {}\n", device.backend, device.available.reason);
        }
        if (!device.note.empty()) {
            notes += fmt::format("{}: {}\n", device.backend, device.note);
        }
        if (const std::string exchange = exchangeText(device); !exchange.empty()) {
            notes
                += fmt::format("{}: gradients of several processes go from GPU to GPU {}\n", device.backend, exchange);
        }
    }
    print(table.text() + (notes.empty() ? "" : "\n" + notes));
    return exitDone;
}

} // namespace

void addDevicesCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand("devices", "What can run here, native or emulated, and if not why");
    const auto asJson = std::make_shared<bool>(false);
    command->add_flag("--json", *asJson, "Print JSON");
    command->callback([=, &chosen] { chosen = [=] { return listAll(*asJson); }; });
}

} // namespace mantissa::cli
