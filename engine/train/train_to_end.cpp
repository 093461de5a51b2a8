#include "engine/train/train_to_end.h"

#include <chrono>
#include <thread>

namespace mantissa {

std::shared_ptr<const SessionStatus> trainToEnd(Session& session, const std::function<bool(const SessionStatus&)>& goOn)
{
    session.run();
    std::uint64_t stop = 0;
    while (true) {
        const std::shared_ptr<const SessionStatus> status = session.status();
        if (status->state == SessionState::Failed) {
            throw Error(status->error, status->message);
        }
        if (status->state == SessionState::Finished || (stop != 0 && status->appliedCommands >= stop)) {
            return status;
        }
        if (!goOn(*status) && stop == 0) {
            stop = session.stop();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

} // namespace mantissa
