#include "engine/parallel/mpi/mpi_world.h"

#include "engine/parallel/mpi/mpi_communicator.h"
#include "engine/parallel/mpi/mpi_link.h"

#include <utility>

namespace mantissa {

namespace {

class MpiWorld : public World
{
public:
    explicit MpiWorld(MpiOptions options)
        : m_link(std::make_shared<MpiLink>(std::move(options)))
    {
    }

    [[nodiscard]] int rank() const override { return m_link->rank(); }

    [[nodiscard]] int size() const override { return m_link->size(); }

    [[nodiscard]] std::string nameOf(int rank) const override { return m_link->nameOf(rank); }

    [[nodiscard]] std::shared_ptr<Communicator> communicator() override
    {
        return std::make_shared<MpiCommunicator>(m_link);
    }

    void leave(const std::string& why) override { m_link->leave(why); }

    [[nodiscard]] bool finish() override { return m_link->finish(); }

    void awaitLeader() override { m_link->awaitLeader(); }

    [[noreturn]] void abort(int exitCode) override { m_link->abort(exitCode); }

private:
    std::shared_ptr<MpiLink> m_link;
};

} // namespace

std::unique_ptr<World> joinMpiWorld(MpiOptions options)
{
    return std::make_unique<MpiWorld>(std::move(options));
}

} // namespace mantissa
