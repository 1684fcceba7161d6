$scope = private
